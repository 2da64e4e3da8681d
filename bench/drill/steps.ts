import { writeFileSync } from 'node:fs'
import { table } from '../../src/cli/table.js'
import { type ServingMachine, servingMachine } from '../shared/machine.js'
import { benchOptions } from '../shared/options.js'
import { openStage, type Stage } from './stage.js'

/** One step of a drill. */
interface Step {
  readonly step: string
  readonly seconds: number
  /** The step's result, or the reason why it failed. */
  readonly found: string
  readonly ok: boolean
}

/** Runs a step: `work` returns its result and how to say it, or throws if it is not as wanted, which ends the drill. */
export type RunStep = <T>(step: string, work: () => Promise<{ found: string; value: T }>) => Promise<T>

interface Report {
  readonly drill: string
  readonly patterns: number
  readonly ok: boolean
  /** Why the drill ended between two steps; null if it did not. */
  readonly error: string | null
  readonly steps: readonly Step[]
  readonly machine: ServingMachine
  readonly at: string
}

/** The parts of a drill: its name, help, and work on a new stage. */
interface Drill {
  readonly name: string
  readonly help: string
  run(stage: Stage, step: RunStep, patterns: number): Promise<void>
}

const SOME_PATTERNS = 1000

/**
 * Runs a drill with the options of the command line and prints each step with its time, then a summary. The exit status is 1 if a step
 * is not as wanted.
 */
export async function runDrill({ name, help, run }: Drill): Promise<void> {
  const { numbers, files } = benchOptions(name, help, { patterns: SOME_PATTERNS }, { kind: 'drill' })
  const steps: Step[] = []
  const facts = servingMachine()
  const say = (line: string) => process.stderr.write(`${line}\n`)
  const stage = await openStage(say)
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void stage.close().then(() => process.exit(130)))
  let failed: unknown = null
  try {
    await run(stage, stepsInto(steps, say), numbers.patterns)
  } catch (error) {
    failed = error
  } finally {
    await stage.close()
  }
  const end = endOf(steps, failed)
  const report = {
    drill: name,
    patterns: numbers.patterns,
    ...end,
    steps,
    machine: facts,
    at: new Date().toISOString(),
  }
  process.stdout.write(summaryOf(report))
  if (files.json !== undefined) writeFileSync(files.json, `${JSON.stringify(report, null, 2)}\n`)
  process.exit(end.ok ? 0 : 1)
}

/** Runs steps and adds each to `steps`; a step that fails is added too, and its error passes on. */
const stepsInto =
  (steps: Step[], say: (line: string) => void): RunStep =>
  async (step, work) => {
    say(`${step} ...`)
    const begun = performance.now()
    const note = (found: string, ok: boolean) => {
      const seconds = Number(((performance.now() - begun) / 1000).toFixed(2))
      steps.push({ step, seconds, found, ok })
      say(`  ${ok ? '' : 'FAILED: '}${found} (${seconds} s)`)
    }
    try {
      const { found, value } = await work()
      note(found, true)
      return value
    } catch (error) {
      note(messageOf(error), false)
      throw error
    }
  }

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** The end of a drill; `failed` is the error that ended it, or null. A step that failed has its error already. */
function endOf(steps: readonly Step[], failed: unknown): Pick<Report, 'ok' | 'error'> {
  const noted = failed === null || steps.at(-1)?.ok === false
  return { ok: failed === null && steps.length > 0, error: noted ? null : messageOf(failed) }
}

function summaryOf({ drill, ok, error, steps }: Pick<Report, 'drill' | 'ok' | 'error' | 'steps'>): string {
  const rows = steps.map((one) => [one.step, one.seconds.toFixed(2), one.ok ? 'ok' : 'FAILED', one.found])
  const end = ok ? 'every step is as wanted' : `NOT as wanted${error === null ? '' : `: ${error}`}`
  return `${table(['step', 's', '', 'found'], rows)}\n\n${drill}: ${end}\n`
}
