import { connect, type Socket } from 'node:net'

export interface Outcome {
  readonly answers: number
  readonly seconds: number
  readonly latenciesMs: Float64Array
  /** Status -> how often. */
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
 * Sends each list over a connection of its own, the next request when the last is answered (a closed loop), all
 * connections at once. `onAnswer` sees every body. A thin client: the less it costs, the more the server gets to show.
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
    lists.map((list) =>
      overOneConnection(port, list, (status, body, ms) => {
        latencies.push(ms)
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
        onAnswer(body)
      }),
    ),
  )
  const seconds = (performance.now() - begun) / 1000
  return { answers: latencies.length, seconds, latenciesMs: Float64Array.from(latencies).sort(), statuses }
}

/** The value below which a share of sorted values lies. */
export const quantile = (sorted: Float64Array, share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN

type Seen = (status: number, body: string, ms: number) => void

function overOneConnection(port: number, list: readonly Buffer[], seen: Seen): Promise<void> {
  return new Promise((resolve, reject) => {
    let sent = 0
    let sentAt = 0
    let held: Buffer = Buffer.alloc(0)
    const socket: Socket = connect({ port, host: '127.0.0.1', noDelay: true }, next)
    function next() {
      const bytes = list[sent++]
      if (bytes === undefined) {
        socket.end()
        return resolve()
      }
      sentAt = performance.now()
      socket.write(bytes)
    }
    socket.on('error', reject)
    socket.on('close', () => reject(new Error('the server closed a connection that was in use')))
    socket.on('data', (chunk) => {
      held = held.length === 0 ? chunk : Buffer.concat([held, chunk])
      const headEnd = held.indexOf('\r\n\r\n')
      if (headEnd < 0) return
      const head = held.toString('latin1', 0, headEnd)
      const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0)
      const end = headEnd + 4 + length
      if (held.length < end) return
      const body = held.toString('utf8', headEnd + 4, end)
      held = held.subarray(end)
      seen(Number(head.slice(9, 12)), body, performance.now() - sentAt)
      next()
    })
  })
}
