import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { checkSums } from './check-sums.js'
import { PEOPLE } from './deployed.js'
import { backupScripts } from './documented.js'
import { dumpOn } from './dumped.js'
import { erase, lookUp, signIn, verify } from './people.js'
import { LOGIN, type Stage } from './stage.js'
import { type RunStep, runDrill } from './steps.js'

const HELP = `Rehearses the loss of the database: a backup, the documented restore on another server, "keystride erasures apply", and a sign-in.

  npm run drill -- restore [options]

  --patterns N   reference patterns, and attempts, in the database (1000)
  --json FILE    also write the steps and their times to a file

Some people are deleted after the backup. The drill fails unless the restored database has every row of the backup, the deleted people are
deleted again, no old session is alive, and a person signs in. It needs about 15 kB of disk in TMPDIR for each pattern, and touches no other
database.
`

/** People who are deleted after the backup, from index 1 on. */
const ERASED = 4

await runDrill({ name: 'restore', help: HELP, run: restoreOn })

async function restoreOn(stage: Stage, step: RunStep, patterns: number): Promise<void> {
  const { shell, files, primary } = stage
  const { apikey, sums } = await dumpOn(stage, step, patterns)
  const session = await step(`delete ${ERASED} people after the backup, and export the list of erasures`, async () => {
    const running = await stage.serve()
    const service = { port: running.port, apikey }
    const alive = await lookUp(service, 0)
    for (let n = 1; n <= ERASED; n++) await erase(service, n)
    writeFileSync(join(files, 'erasures.jsonl'), await shell('keystride erasures export'))
    await running.stop()
    return { found: `${ERASED} deleted`, value: alive.session }
  })
  await primary.kill()
  const server = await stage.another('second')
  await server.run(`create role ${LOGIN} login superuser`)
  const SERVER = `postgres://${LOGIN}@127.0.0.1:${server.port}`
  const restored = { DATABASE_URL: `${SERVER}/keystride` }
  await step('restore on another server', async () => {
    await shell(backupScripts().restore, { SERVER })
    return { found: 'pg_restore ended with status 0', value: null }
  })
  await step('compare every row of every table', async () => {
    const found = await checkSums(server, 'keystride')
    const different = Object.keys({ ...sums, ...found }).filter((table) => found[table] !== sums[table])
    if (different.length > 0) throw new Error(`rows differ in ${different.join(', ')}`)
    return { found: `${Object.keys(found).length} tables are equal`, value: null }
  })
  await step('keystride erasures apply', async () => {
    const said = await shell('keystride erasures apply erasures.jsonl', restored)
    if (!said.includes(`\n${ERASED} erased again\n`)) throw new Error(`wanted ${ERASED} erased again, got: ${said}`)
    return { found: `${ERASED} erased again`, value: null }
  })
  const service = await step('start the service, until a person has signed in', async () => {
    const running = await stage.serve(restored)
    const typings = await signIn({ port: running.port, apikey }, PEOPLE - 1)
    return { found: `signed in; typings needed: ${typings}`, value: { port: running.port, apikey } }
  })
  await step('look for deleted people and old sessions', async () => {
    for (let n = 1; n <= ERASED; n++) {
      const { status } = await lookUp(service, n)
      if (status !== 404) throw new Error(`a deleted person: wanted 404, got ${status}`)
    }
    const { status } = await verify(service, 0, session)
    if (status !== 400) throw new Error(`a session of before the restore: wanted 400, got ${status}`)
    return { found: 'none', value: null }
  })
}
