import { dumpOn } from './dumped.js'
import { runDrill } from './steps.js'

const HELP = `Rehearses a backup: pg_dump as docs/operations.md prints it, then "keystride backup verify".

  npm run drill -- backup [options]

  --patterns N   reference patterns, and attempts, in the database (1000)
  --json FILE    also write the steps and their times to a file

The drill starts Debian's PostgreSQL in a temporary folder (TMPDIR) and fills it with made-up people. It needs about 15 kB of disk for each
pattern, and touches no other database.
`

await runDrill({
  name: 'backup',
  help: HELP,
  run: async (stage, step, patterns) => void (await dumpOn(stage, step, patterns)),
})
