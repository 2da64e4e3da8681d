import { Command } from 'commander'
import { print, run } from './administer.js'
import { above0, JSON_OPTION } from './arguments.js'
import type { DiagnosisOptions } from './doctor/diagnose.js'
import { count, type Finding } from './doctor/finding.js'
import { table } from './table.js'

/** `keystride doctor`: checks all that the service needs, and says what to do. */
export const doctorCommand = (env: NodeJS.ProcessEnv): Command =>
  new Command('doctor')
    .description('check what the service needs: configuration, stores, keys, certificates, jobs and backups')
    .option('--backup <path>', 'a backup file, or the folder of the backups: checks age and size of the newest')
    .option(
      '--backup-max-age <hours>',
      'age from which a backup, or a list of erasures, is a warning',
      above0('a number of hours above 0'),
      26,
    )
    .option('--erasures <file>', 'the latest output of "erasures export": checks its age, and whether it is whole')
    .option(...JSON_OPTION)
    .addHelpText('after', NOTES)
    .action(({ json, ...options }: DiagnosisOptions & { json?: true }) =>
      run(async () => {
        const { diagnose } = await import('./doctor/diagnose.js')
        const findings = await diagnose(env, options)
        const problems = findings.filter(({ level }) => level === 'problem').length
        print(json === true ? JSON.stringify({ ok: problems === 0, findings }, null, 2) : report(findings))
        if (problems > 0) process.exitCode = 1
      }),
    )

const NOTES = `
The levels are ok, note, warning and problem. A check that could not be done is a note, never ok. The exit status is 1 if there is a
problem, else 0. Run the command with the environment of the service, on its machine. It changes nothing, prints no secret, and goes on
with the other checks while a store is down. It does not check whether the service serves: GET /readyz of each process does. It connects
to the servers of alert channels by TLS, and sends them no message.`

function report(findings: readonly Finding[]): string {
  const rows = findings.flatMap(({ area, level, found, advice }) => [
    [level, area, found],
    ...(advice === null ? [] : [['', '', `-> ${advice}`]]),
  ])
  const total = (level: Finding['level']) => findings.filter((one) => one.level === level).length
  const [notes, warnings, problems] = (['note', 'warning', 'problem'] as const).map((level) =>
    count(total(level), level),
  )
  return `${table(['level', 'area', 'found'], rows)}\n\n${total('ok')} ok, ${notes}, ${warnings}, ${problems}`
}
