import { parseArgs } from 'node:util'

/** A bench's numeric options by name, with their values, and `--json FILE`. */
interface BenchOptions<N extends string> {
  readonly numbers: Readonly<Record<N, number>>
  readonly files: Readonly<Record<string, string | undefined>>
}

interface OptionKinds {
  readonly files?: readonly string[]
  readonly kind?: 'bench' | 'drill'
  /** Names of numbers that may be 0. */
  readonly zero?: readonly string[]
}

/**
 * Reads the options of a bench or a drill (`kind`): numbers above 0, files by name. `--help` prints `help` and ends the process. An
 * invalid option prints a sentence and ends the process with status 2.
 */
export function benchOptions<N extends string>(
  name: string,
  help: string,
  defaults: Readonly<Record<N, number>>,
  { files = ['json'], kind = 'bench', zero = [] }: OptionKinds = {},
): BenchOptions<N> {
  const fail = (message: string): never => {
    process.stderr.write(`${kind} ${name}: ${message}; --help lists the options\n`)
    process.exit(2)
  }
  const names = Object.keys(defaults) as N[]
  const text = { type: 'string' } as const
  let given: Record<string, unknown> = {}
  try {
    const spelled = Object.fromEntries([...names, ...files].map((option) => [option, text]))
    given = parseArgs({ options: { ...spelled, help: { type: 'boolean' } } }).values
  } catch (error) {
    fail((error as Error).message.split('. ')[0] ?? '')
  }
  if (given.help === true) {
    process.stdout.write(help)
    process.exit(0)
  }
  const numbers = names.map((option): [N, number] => {
    const value = Number(given[option] ?? defaults[option])
    if (!(value > 0 || (value === 0 && zero.includes(option))) || !Number.isFinite(value))
      fail(`--${option}: expected a number above 0, got ${JSON.stringify(given[option])}`)
    if (option !== 'seconds' && !Number.isInteger(value)) fail(`--${option}: expected a whole number`)
    return [option, value]
  })
  return {
    numbers: Object.fromEntries(numbers) as Record<N, number>,
    files: Object.fromEntries(files.map((file) => [file, given[file] as string | undefined])),
  }
}

/** Runs a bench. A failure prints one line and ends the process with status 2, even with open threads and connections. */
export async function runBench(name: string, work: () => Promise<void> | void): Promise<void> {
  try {
    await work()
  } catch (error) {
    process.stderr.write(`bench ${name}: ${error instanceof Error ? error.message : error}\n`)
    process.exitCode = 2
  }
  process.exit()
}
