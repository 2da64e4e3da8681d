import { parseArgs } from 'node:util'

/** Numbers that a bench takes, by name, with their defaults, and `--json FILE`. */
interface BenchOptions<N extends string> {
  readonly numbers: Readonly<Record<N, number>>
  readonly files: Readonly<Record<string, string | undefined>>
}

/**
 * The options of a bench: numbers above 0, files by name. Prints `help` and ends the process where that is asked for, and
 * with status 2 and a sentence where something else came than wanted.
 */
export function benchOptions<N extends string>(
  name: string,
  help: string,
  defaults: Readonly<Record<N, number>>,
  files: readonly string[] = ['json'],
): BenchOptions<N> {
  const fail = (message: string): never => {
    process.stderr.write(`bench ${name}: ${message}; --help lists the options\n`)
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
    if (!(value > 0) || !Number.isFinite(value))
      fail(`--${option}: ${JSON.stringify(given[option])} came, a number above 0 was wanted`)
    if (option !== 'seconds' && !Number.isInteger(value)) fail(`--${option}: a whole number was wanted`)
    return [option, value]
  })
  return {
    numbers: Object.fromEntries(numbers) as Record<N, number>,
    files: Object.fromEntries(files.map((file) => [file, given[file] as string | undefined])),
  }
}

/** Runs a bench; what goes wrong is one line and status 2. Threads and connections of a failed run do not keep the process. */
export async function runBench(name: string, work: () => Promise<void> | void): Promise<void> {
  try {
    await work()
  } catch (error) {
    process.stderr.write(`bench ${name}: ${error instanceof Error ? error.message : error}\n`)
    process.exitCode = 2
  }
  process.exit()
}
