import { connect } from 'node:net'

interface Outcome {
  readonly answers: number
  readonly seconds: number
  readonly latenciesMs: Float64Array
  /** Number of answers by status. */
  readonly statuses: ReadonlyMap<number, number>
}

/** One HTTP/1.1 request as bytes, keep-alive. */
export function request(method: string, path: string, headers: Readonly<Record<string, string>>, body: string): Buffer {
  const bytes = Buffer.from(body)
  const lines = Object.entries({ host: 'localhost', ...headers, 'content-length': String(bytes.byteLength) })
  const head = `${method} ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`
  return Buffer.concat([Buffer.from(head), bytes])
}

/**
 * Sends each list over its own connection, all connections concurrently; each sends the next request after an answer (a
 * closed loop). `onAnswer` gets every body. The client is minimal: its cost would reduce the measured rate.
 */
export async function drive(
  port: number,
  lists: readonly (readonly Buffer[])[],
  onAnswer: (body: string) => void = () => {},
): Promise<Outcome> {
  const latencies: number[] = []
  const statuses = new Map<number, number>()
  const begun = performance.now()
  await Promise.all(
    lists.map(async (list) => {
      const connection = await openConnection(port)
      await new Promise<void>((resolve, reject) => {
        connection.onLost(reject)
        let sent = 0
        const next = () => {
          const bytes = list[sent++]
          if (bytes === undefined) return resolve()
          const sentAt = performance.now()
          connection.ask(bytes, (status, body) => {
            latencies.push(performance.now() - sentAt)
            statuses.set(status, (statuses.get(status) ?? 0) + 1)
            onAnswer(body.toString())
            next()
          })
        }
        next()
      })
      connection.close()
    }),
  )
  const seconds = (performance.now() - begun) / 1000
  return { answers: latencies.length, seconds, latenciesMs: Float64Array.from(latencies).sort(), statuses }
}

/** The quantile of sorted values at a share, 0 to 1. */
export const quantile = (sorted: Float64Array, share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN

/** `body` is valid only during the call; `head` is the status line with the headers. */
type OnAnswer = (status: number, body: Buffer, head: string) => void

/** A keep-alive connection with one request in flight. */
export interface Connection {
  ask(bytes: Buffer, done: OnAnswer): void
  /**
   * Called if the server closes the connection, or it breaks, before `close`; also by each `ask` on a connection that was lost
   * earlier, and if an answer takes longer than `ANSWER_MS`.
   */
  onLost(lost: (error: Error) => void): void
  close(): void
}

/** Answers have a few hundred bytes; longer ones arrive in several reads. */
const READ_BYTES = 64 * 1024
/** An answer that takes longer ends the bench. */
const ANSWER_MS = 60_000
const HEAD_END = Buffer.from('\r\n\r\n')

/** Connects to a port of this machine. A connection reads into one buffer, so an answer allocates nothing. */
export function openConnection(port: number): Promise<Connection> {
  let done: OnAnswer = () => {}
  let lost: (error: Error) => void = () => {}
  let held: Buffer | null = null
  let closing = false
  /** The request that has no answer yet. */
  let asked: Buffer | null = null
  /** Why the connection can carry no further request. */
  let broken: Error | null = null

  /** Passes on the answer if `bytes` contain all of it; false otherwise. */
  function answered(bytes: Buffer): boolean {
    const headEnd = bytes.indexOf(HEAD_END)
    if (headEnd < 0) return false
    const head = bytes.toString('latin1', 0, headEnd)
    const end = headEnd + 4 + Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0)
    if (bytes.length < end) return false
    held = null
    asked = null
    done(Number(head.slice(9, 12)), bytes.subarray(headEnd + 4, end), head)
    return true
  }
  function read(length: number, buffer: Uint8Array): boolean {
    const chunk = Buffer.from(buffer.buffer, buffer.byteOffset, length)
    const bytes = held === null ? chunk : Buffer.concat([held, chunk])
    if (!answered(bytes)) held = held === null ? Buffer.from(chunk) : bytes
    return true
  }

  return new Promise((resolve, reject) => {
    const onread = { buffer: Buffer.alloc(READ_BYTES), callback: read }
    const socket = connect({ port, host: '127.0.0.1', noDelay: true, onread }, () => {
      resolve({
        ask(bytes, onAnswer) {
          // A server closes a connection that is idle for some seconds. A write to it reports nothing.
          if (broken !== null) return lost(broken)
          done = onAnswer
          asked = bytes
          socket.write(bytes)
        },
        onLost(handler) {
          lost = handler
        },
        close() {
          closing = true
          socket.destroy()
        },
      })
    })
    const gone = (error: Error) => {
      broken ??= error
      reject(error)
      if (!closing) lost(error)
    }
    socket.on('error', gone)
    const firstLine = (bytes: Buffer) => bytes.toString('latin1', 0, bytes.indexOf(' HTTP/'))
    socket.on('close', () => {
      const when = asked === null ? 'while it was idle' : `before its answer to ${firstLine(asked)}`
      gone(new Error(`the server closed a connection ${when}`))
    })
    socket.setTimeout(ANSWER_MS, () => {
      if (asked !== null) socket.destroy(new Error(`no answer to ${firstLine(asked)} within ${ANSWER_MS / 1000} s`))
    })
  })
}
