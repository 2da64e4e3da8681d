import { connect, type Socket } from 'node:net'

export interface RawAnswer {
  readonly status: number
  readonly headers: ReadonlyMap<string, string>
  readonly text: string
}

export interface RawClient {
  readonly socket: Socket
  /** Sends bytes as one segment; resolves when the kernel has them. */
  send(bytes: string | Uint8Array): Promise<void>
  /** Resolves with all answers once there are this many, or the connection has ended. */
  answers(count: number): Promise<RawAnswer[]>
  /** Resolves with all received text once it contains `part`, or the connection has ended. */
  textWith(part: string): Promise<string>
  /** Resolves when either side has closed the connection. */
  readonly ended: Promise<void>
}

/** A connection that sends exactly the bytes of the test. */
export async function rawClient(port: number): Promise<RawClient> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  let received = Buffer.alloc(0)
  let over = false
  const watchers = new Set<() => void>()
  const tell = () => {
    for (const watch of [...watchers]) watch()
  }
  socket.on('data', (chunk) => {
    received = Buffer.concat([received, chunk])
    tell()
  })
  const until = (enough: () => boolean) =>
    new Promise<void>((resolve) => {
      const watch = () => {
        if (!enough() && !over) return
        watchers.delete(watch)
        resolve()
      }
      watchers.add(watch)
      watch()
    })
  const ended = new Promise<void>((resolve) => {
    socket.on('error', () => {})
    socket.on('close', () => {
      over = true
      tell()
      resolve()
    })
  })
  await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject))
  return {
    socket,
    ended,
    send: (bytes) => new Promise((resolve) => socket.write(bytes, () => resolve())),
    async answers(count) {
      await until(() => parseAnswers(received).length >= count)
      return parseAnswers(received)
    },
    async textWith(part) {
      await until(() => received.includes(part))
      return received.toString()
    },
  }
}

/** Sends one request on a new connection; null if the connection ended without an answer. */
export async function ask(port: number, ...segments: (string | Uint8Array)[]): Promise<RawAnswer | null> {
  const client = await rawClient(port)
  for (const segment of segments) await client.send(segment)
  const [first] = await client.answers(1)
  client.socket.destroy()
  return first ?? null
}

/** A request as text: a Host header, the given headers, then the body, if any, with its length. */
export function request(line: string, headers: readonly string[] = [], body?: string): string {
  const length = body === undefined ? [] : [`Content-Length: ${Buffer.byteLength(body)}`]
  return [`${line} HTTP/1.1`, 'Host: x', ...headers, ...length, '', body ?? ''].join('\r\n')
}

function parseAnswers(bytes: Buffer): RawAnswer[] {
  const answers: RawAnswer[] = []
  let at = 0
  while (at < bytes.length) {
    const headEnd = bytes.indexOf('\r\n\r\n', at)
    if (headEnd < 0) break
    const [statusLine = '', ...lines] = bytes.toString('latin1', at, headEnd).split('\r\n')
    const headers = new Map(
      lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
    )
    const length = Number(headers.get('content-length') ?? 0)
    const end = headEnd + 4 + length
    if (end > bytes.length) break
    answers.push({ status: Number(statusLine.split(' ')[1]), headers, text: bytes.toString('utf8', headEnd + 4, end) })
    at = end
  }
  return answers
}
