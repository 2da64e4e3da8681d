import { writeSync } from 'node:fs'

/** Levels with the numbers that log collectors use; `silent` logs nothing. */
const LEVELS = { trace: 10, debug: 20, info: 30, warn: 40, error: 50, fatal: 60, silent: 100 }
export type LogLevel = keyof typeof LEVELS
/** Values of `LOG_LEVEL`, the most severe first. */
export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const satisfies LogLevel[]

/** Writes one line: a message, or fields and a message. An `Error` in the field `err` is written with its stack and causes. */
interface Write {
  (message: string): void
  (fields: object, message: string): void
}
export const LOG_FORMATS = ['auto', 'json', 'text'] as const
export type LogFormat = (typeof LOG_FORMATS)[number]
export type Logger = Readonly<Record<Exclude<LogLevel, 'silent'>, Write>>

/** Writes a line, which ends with its line feed. Must not throw. */
type Sink = (line: string) => void

/**
 * Logs as JSON, one object per line: `level`, `time` (epoch ms), `pid`, the fields, `msg`. Each line is written before the call
 * returns, so that the last line of a process is not lost. A closed, full or blocked sink loses lines and does not throw.
 */
export const jsonLog = (level: LogLevel, sink: Sink = toStandardOutput()): Logger => logOf(level, jsonLine, sink)

/** Logs as text for a person, one line and the stack of an error; `color` for a terminal. */
export const textLog = (level: LogLevel, color: boolean, sink: Sink = toStandardOutput()): Logger =>
  logOf(level, textLineIn(color), sink)

/** Whether every line on standard output is JSON. `auto`: text on a terminal, else JSON. */
export const isJson = (format: LogFormat): boolean => format === 'json' || (format === 'auto' && !isTerminal())

/** The log of a process on its standard output. */
export function processLog(level: LogLevel, format: LogFormat, env: NodeJS.ProcessEnv): Logger {
  if (isJson(format)) return jsonLog(level)
  return textLog(level, isTerminal() && !env.NO_COLOR && env.TERM !== 'dumb')
}

const isTerminal = (): boolean => process.stdout.isTTY === true

type Line = (level: number, fields: object, message: string | undefined) => string

function logOf(level: LogLevel, line: Line, sink: Sink): Logger {
  const write =
    (number: number): Write =>
    (...[first, second]: [string] | [object, string]) => {
      if (number < LEVELS[level]) return
      const [fields, message] = typeof first === 'string' ? [{}, first] : [first, second]
      sink(`${line(number, fields, message)}\n`)
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

const jsonLine: Line = (level, fields, msg) => {
  const head = { level, time: Date.now(), pid: process.pid }
  try {
    return JSON.stringify({ ...head, ...fields, msg }, (key, value: unknown) =>
      key === 'err' && value instanceof Error ? errorFields(value) : typeof value === 'bigint' ? String(value) : value,
    )
  } catch {
    return JSON.stringify({ ...head, msg, unprintable: Object.keys(fields) }) // a cycle
  }
}

/** Name and terminal colour code of each level. */
const SHOWN: Readonly<Record<number, readonly [string, number]>> = {
  10: ['TRACE', 90],
  20: ['DEBUG', 90],
  30: ['INFO ', 32],
  40: ['WARN ', 33],
  50: ['ERROR', 31],
  60: ['FATAL', 31],
}

function textLineIn(color: boolean): Line {
  const dyed = (code: number, text: string) => (color ? `\u001b[${code}m${text}\u001b[0m` : text)
  return (level, fields, message) => {
    const [name, code] = SHOWN[level] ?? ['', 0]
    const { err, stack, ...rest } = fields as Record<string, unknown>
    const pairs = Object.entries(rest).map(([key, value]) => `${dyed(90, `${key}=`)}${printable(valueText(value))}`)
    const trace = err instanceof Error ? stackOf(err) : typeof stack === 'string' ? stack : ''
    const time = new Date().toISOString().slice(11, 23)
    const below = trace === '' ? [] : trace.split('\n').map((line) => `\n    ${dyed(90, printable(line.trim()))}`)
    return `${dyed(90, time)} ${dyed(code, name)} ${[printable(message ?? ''), ...pairs].join('  ')}${below.join('')}`
  }
}

function valueText(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value)
  try {
    return JSON.stringify(value)
  } catch {
    return '(cannot be printed)' // a cycle
  }
}

/** Escapes control characters, so that text of a client or a store can neither move the cursor nor begin a line. */
const printable = (text: string): string =>
  text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (found) => `\\u{${found.codePointAt(0)?.toString(16)}}`)

/** Only these fields: other properties of a database error may hold the values of a query. */
function errorFields(error: Error): object {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined
  return { type: error.name, message: error.message, code, stack: stackOf(error) }
}

function stackOf(error: Error, depth = 0): string {
  const own = error.stack ?? error.message
  return error.cause instanceof Error && depth < 5 ? `${own}\ncaused by: ${stackOf(error.cause, depth + 1)}` : own
}

/** Waits for a slow reader: at most 200 times 5 ms, which is 1 s, in a minute. */
const WAIT_MS = 5
const WAITS_MAX = 200
const MINUTE_MS = 60_000

const NO_BYTES = Buffer.alloc(0)

interface Output {
  /** Writes without waiting. Returns the number of bytes written; throws `EAGAIN` if none fits. */
  write(bytes: Uint8Array): number
  wait(ms: number): void
  /** Time by a monotonic clock, ms. */
  now(): number
}

/**
 * A sink that a reader delays by at most 1 s in a minute. Then a line that does not fit at once is lost until the minute is over.
 * The rest of a line begun is written before the next line, so that a line is written whole or not at all.
 */
export function patientSink({ write, wait, now }: Output): Sink {
  let minuteFrom = Number.NEGATIVE_INFINITY
  let waits = 0
  let begun: Buffer = NO_BYTES
  const mayWait = () => {
    if (now() - minuteFrom >= MINUTE_MS) [minuteFrom, waits] = [now(), 0]
    waits += 1
    return waits <= WAITS_MAX
  }
  /** Returns the bytes that were not written. */
  const send = (bytes: Buffer): Buffer => {
    let rest = bytes
    while (rest.length > 0) {
      try {
        rest = rest.subarray(write(rest))
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EAGAIN' || !mayWait()) return rest
        wait(WAIT_MS)
      }
    }
    return rest
  }
  return (line) => {
    begun = send(begun)
    if (begun.length > 0) return
    const bytes = Buffer.from(line)
    const rest = send(bytes)
    if (rest.length < bytes.length) begun = rest
  }
}

/** A sink on an open file descriptor. `prepare` is called before each write. */
export function toDescriptor(descriptor: number, prepare = () => {}): Sink {
  const pause = new Int32Array(new SharedArrayBuffer(4))
  return patientSink({
    write(bytes) {
      prepare()
      return writeSync(descriptor, bytes)
    },
    wait: (ms) => void Atomics.wait(pause, 0, 0, ms),
    now: () => performance.now(),
  })
}

/**
 * A sink on standard output that never blocks. All processes that share a standard output share its flag `O_NONBLOCK`, and Node
 * clears it in every child that it starts, and in a process that ends. So the flag is set before each write. Node has no public
 * function for that.
 */
function toStandardOutput(): Sink {
  // Sound: the handle is absent if standard output is a file, which does not block.
  const { _handle: handle } = process.stdout as { _handle?: { setBlocking?(blocks: boolean): void } }
  return toDescriptor(1, () => handle?.setBlocking?.(false))
}
