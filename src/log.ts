import { writeSync } from 'node:fs'

/** Levels with the numbers that log collectors know them by; `silent` logs nothing. */
const LEVELS = { trace: 10, debug: 20, info: 30, warn: 40, error: 50, fatal: 60, silent: 100 }
export type LogLevel = keyof typeof LEVELS
/** What `LOG_LEVEL` may be, the gravest first. */
export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const satisfies LogLevel[]

/** Writes one line: a message, or fields and a message. An `Error` in the field `err` is told with its stack and causes. */
export interface Write {
  (message: string): void
  (fields: object, message: string): void
}
export type Logger = Readonly<Record<Exclude<LogLevel, 'silent'>, Write>>

/** Where lines go, each with its line feed. Must not throw. */
type Sink = (line: string) => void

/**
 * Logs as JSON, one object a line: `level`, `time` (epoch ms), `pid`, the fields, `msg`. Each line is written before the
 * call returns, so that the last words of a process are not lost. A sink that is gone, full or stuck loses lines and stops nothing.
 */
export function jsonLog(level: LogLevel, sink: Sink = toDescriptor(1)): Logger {
  const write =
    (number: number): Write =>
    (...[first, second]: [string] | [object, string]) => {
      if (number < LEVELS[level]) return
      const [fields, message] = typeof first === 'string' ? [{}, first] : [first, second]
      sink(`${lineOf({ level: number, time: Date.now(), pid: process.pid }, fields, message)}\n`)
    }
  const { trace, debug, info, warn, error, fatal } = LEVELS
  return {
    trace: write(trace),
    debug: write(debug),
    info: write(info),
    warn: write(warn),
    error: write(error),
    fatal: write(fatal),
  }
}

function lineOf(head: object, fields: object, msg: string | undefined): string {
  try {
    return JSON.stringify({ ...head, ...fields, msg }, (key, value: unknown) =>
      key === 'err' && value instanceof Error ? told(value) : typeof value === 'bigint' ? String(value) : value,
    )
  } catch {
    return JSON.stringify({ ...head, msg, unprintable: Object.keys(fields) }) // a cycle
  }
}

/** Named fields alone: what else hangs on a database's error may be the values of a query. */
function told(error: Error): object {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined
  return { type: error.name, message: error.message, code, stack: stackOf(error) }
}

function stackOf(error: Error, depth = 0): string {
  const own = error.stack ?? error.message
  return error.cause instanceof Error && depth < 5 ? `${own}\ncaused by: ${stackOf(error.cause, depth + 1)}` : own
}

/** How long a reader that is behind is waited for, ms and times: 1 s in all, then the rest of the line is lost. */
const WAIT_MS = 5
const WAITS_MAX = 200

/** A sink on an open file descriptor. One that was waited for in vain is not waited for again until it takes a line. */
export function toDescriptor(descriptor: number): Sink {
  const pause = new Int32Array(new SharedArrayBuffer(4))
  let stuck = false
  let cut = false
  return (line) => {
    // What is left of a line that was cut short must not make this one unreadable.
    let rest = Buffer.from(cut ? `\n${line}` : line)
    for (let waits = 0; rest.length > 0; ) {
      try {
        const written = writeSync(descriptor, rest)
        rest = rest.subarray(written)
        cut = rest.length > 0
      } catch (error) {
        stuck ||= ++waits > WAITS_MAX
        if (stuck || (error as NodeJS.ErrnoException).code !== 'EAGAIN') return
        Atomics.wait(pause, 0, 0, WAIT_MS)
      }
    }
    stuck = false
  }
}
