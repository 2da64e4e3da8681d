import { writeFileSync } from 'node:fs'
import { z } from 'zod'
import { HELP } from './help.js'
import { htmlReport } from './html.js'
import { OptionsError, readOptions } from './options.js'
import { startOwnService } from './own-service.js'
import { progressOn } from './progress.js'
import { Report } from './report-schema.js'
import { run } from './run.js'
import { CannotTest, lookAt } from './target.js'
import { mainStep, strained, textReport } from './text-report.js'
import { judged } from './thresholds.js'

// `npm run bench -- load`: see load/help.ts; docs/scaling.md explains the figures.

const FAILED = 1
const NOT_RUN = 2
const INCONCLUSIVE = 3
const INTERRUPTED = 130

async function main(args: readonly string[]): Promise<number> {
  if (args.includes('--help')) {
    process.stdout.write(HELP)
    return 0
  }
  if (args.includes('--json-schema')) {
    process.stdout.write(`${JSON.stringify(z.toJSONSchema(Report), null, 2)}\n`)
    return 0
  }
  const options = readOptions(args, process.env, Date.now())
  const progress = progressOn(process.stderr)
  const interrupt = new AbortController()
  const onSignal = () => {
    if (interrupt.signal.aborted) process.exit(INTERRUPTED)
    interrupt.abort()
    progress.say('stopping: requests in flight finish and are reported; Ctrl-C again stops at once')
  }
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal)
  if (options.core === null) progress.say('starting a service ...')
  const own = options.core === null ? await startOwnService(process.env, options.name) : null
  try {
    const [core, apikey] = [own?.core ?? options.core ?? '', own?.apikey ?? options.apikey ?? '']
    const target = await lookAt(core, apikey, options.metrics)
    const ownStores = own?.stores ?? null
    const cleanUp = !options.keep && own?.throwaway !== true
    const needs = { options, core, apikey, target, ownStores, cleanUp, progress, interrupt: interrupt.signal }
    const measured = await run(needs)
    // The written report conforms to the documented schema.
    const report = Report.parse({ ...measured, thresholds: judged(options.failIf, mainStep(measured)) })
    process.stdout.write(textReport(report))
    if (options.json !== null) writeFileSync(options.json, `${JSON.stringify(report, null, 2)}\n`)
    if (options.html !== null) writeFileSync(options.html, htmlReport(report))
    if (interrupt.signal.aborted) return INTERRUPTED
    if (strained(report)) return INCONCLUSIVE
    return report.thresholds.every(({ passed }) => passed) ? 0 : FAILED
  } finally {
    await own?.stop()
  }
}

try {
  process.exitCode = await main(process.argv.slice(2))
} catch (error) {
  const known = error instanceof OptionsError || error instanceof CannotTest
  process.stderr.write(`bench load: ${known ? error.message : error instanceof Error ? error.stack : error}\n`)
  process.exitCode = NOT_RUN
}
