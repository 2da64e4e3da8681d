import { request } from '../shared/drive.js'
import type { Pool } from '../shared/pool.js'

/** A sign-in, whose requests are created before they are sent. */
export interface SignIn {
  readonly bootstrap: Buffer
  /** The verify without the session, which the answer to the bootstrap gives. */
  readonly head: string
  readonly body: Buffer
}

interface SignInLoops {
  /** More connections than sign-ins at once, so that each request has several to choose from. */
  readonly pool: Pick<Pool, 'take' | 'giveBack'>
  readonly atOnce: number
  /** Starts a second at even intervals, whatever the answers; null starts the next one after an answer. */
  readonly rate: number | null
  /** No sign-in begins afterwards. */
  readonly until: number
  next(): SignIn | undefined
  /** Called with the verify's answer, or with that to the bootstrap if it is not 200. */
  note(dueAt: number, status: number, body: Buffer): void
  /** Called when the sign-ins are used up. */
  dry(): void
}

/** `body` gets the verify of a person with a key. */
export function signInOf(path: string, apikey: string, body: string): SignIn {
  const bytes = Buffer.from(body)
  const lines = [`POST ${path}/verify HTTP/1.1`, 'host: localhost', `apikey: ${apikey}`]
  const more = ['content-type: application/json', `content-length: ${bytes.byteLength}`, 'x-service-session: ']
  return { bootstrap: request('GET', path, { apikey }, ''), head: [...lines, ...more].join('\r\n'), body: bytes }
}

const SESSION = /\r\nx-service-session: (\S+)/i

/**
 * Sign-ins, each a bootstrap and then a verify in its session. Either takes any free connection, and processes share a port by
 * connections, so that the two reach independent processes, as behind a load balancer.
 */
export function signInLoops({ pool, atOnce, rate, until, next, note, dry }: SignInLoops): Promise<void> {
  const ask = (bytes: Buffer, done: (status: number, body: Buffer, head: string) => void) => {
    const connection = pool.take()
    connection.ask(bytes, (status, body, head) => {
      pool.giveBack(connection)
      done(status, body, head)
    })
  }
  const signIn = ({ bootstrap, head, body }: SignIn, dueAt: number, done: () => void) =>
    ask(bootstrap, (status, answer, answerHead) => {
      const session = SESSION.exec(answerHead)?.[1]
      if (status !== 200 || session === undefined) {
        note(dueAt, status === 200 ? NO_SESSION : status, answer)
        return done()
      }
      ask(Buffer.concat([Buffer.from(`${head}${session}\r\n\r\n`), body]), (verified, verdict) => {
        note(dueAt, verified, verdict)
        done()
      })
    })
  return rate === null
    ? closed({ atOnce, until, next, dry, signIn })
    : paced({ atOnce, rate, until, next, dry, signIn })
}

/** Counted as the status of a bootstrap without a session. */
const NO_SESSION = 0

interface Loop extends Pick<SignInLoops, 'atOnce' | 'until' | 'next' | 'dry'> {
  signIn(one: SignIn, dueAt: number, done: () => void): void
}

function closed({ atOnce, until, next, dry, signIn }: Loop): Promise<void> {
  return new Promise((resolve) => {
    let running = atOnce
    const ended = () => {
      running -= 1
      if (running === 0) resolve()
    }
    const again = () => {
      const now = performance.now()
      const one = now < until ? next() : undefined
      if (one !== undefined) return signIn(one, now, again)
      if (now < until) dry()
      ended()
    }
    for (let i = 0; i < atOnce; i++) again()
  })
}

function paced({ atOnce, rate, until, next, dry, signIn }: Loop & { readonly rate: number }): Promise<void> {
  return new Promise((resolve) => {
    const waiting: number[] = []
    const begun = performance.now()
    let [due, running, ended] = [0, 0, false]
    const begin = (dueAt: number) => {
      const one = next()
      if (one === undefined) {
        dry()
        return end()
      }
      running += 1
      signIn(one, dueAt, () => {
        running -= 1
        const waited = ended ? undefined : waiting.shift()
        if (waited !== undefined) begin(waited)
        else if (ended && running === 0) resolve()
      })
    }
    const timer = setInterval(() => {
      const now = performance.now()
      if (now >= until) return end()
      for (; !ended && begun + (1000 * due) / rate <= now; due++) {
        const dueAt = begun + (1000 * due) / rate
        if (running < atOnce) begin(dueAt)
        else waiting.push(dueAt)
      }
    }, 1)
    function end() {
      clearInterval(timer)
      ended = true
      if (running === 0) resolve()
    }
  })
}
