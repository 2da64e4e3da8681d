import { Agent, request } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { suggestWords } from '../../src/domain/typing-words.js'
import { person } from '../../src/typist/made-up-person.js'
import { stranger } from './enrolled.js'
import { PATIENCE_MS } from './patience.js'

/** One answer, or the lack of one. */
export interface Answer {
  readonly what: string
  /** 0 if the connection broke or the call hung. */
  readonly status: number
  readonly askedAt: number
  readonly ms: number
  readonly retryAfter: string | null
  readonly session: string
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  readonly json: any
}

export type Ask = (
  what: string,
  method: string,
  path: string,
  options?: { session?: string; body?: unknown },
) => Promise<Answer>

/** A call that takes longer counts as hung. */
const HUNG_MS = PATIENCE_MS.background
/** Pause of a client between two calls, ms, so that clients and service share two cores. */
const PAUSE_MS = 10

/** A client with one kept-alive connection. It does little work of its own, so that the service is measured. */
export function client(base: string, apikey: string): Ask & { end(): void } {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const ask: Ask = (what, method, path, { session, body } = {}) => {
    const text = body === undefined ? null : JSON.stringify(body)
    const askedAt = performance.now()
    return new Promise((resolve) => {
      const done = (status: number, received: string, headers: Record<string, unknown>) =>
        resolve({
          what,
          status,
          askedAt,
          ms: performance.now() - askedAt,
          retryAfter: (headers['retry-after'] as string | undefined) ?? null,
          session: (headers['x-service-session'] as string | undefined) ?? '',
          json: received === '' ? null : JSON.parse(received),
        })
      const sent = request(
        base + path,
        {
          agent,
          method,
          headers: {
            apikey,
            ...(session === undefined ? {} : { 'x-service-session': session }),
            ...(text === null
              ? {}
              : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(text)) }),
          },
          timeout: HUNG_MS,
        },
        (answer) => {
          const chunks: Buffer[] = []
          answer.on('data', (chunk: Buffer) => chunks.push(chunk))
          answer.on('end', () => done(answer.statusCode ?? 0, Buffer.concat(chunks).toString(), answer.headers))
          answer.on('error', () => done(0, '', {}))
        },
      )
      sent.on('timeout', () => sent.destroy())
      sent.on('error', () => done(0, '', {}))
      sent.end(text ?? undefined)
    })
  }
  return Object.assign(ask, { end: () => agent.destroy() })
}

/** The answers of a load, to compare with the database. */
export interface Load {
  readonly answers: readonly Answer[]
  /** userRef -> enrollments sent, and answered with 200. */
  readonly enrolled: ReadonlyMap<string, { sent: number; acknowledged: number }>
  /** Ids of the attempts that were judged. */
  readonly judged: ReadonlySet<string>
  /** Ids of the attempts that were answered with `authenticated: true`. */
  readonly authenticated: ReadonlySet<string>
  /** Accounts whose deletion was answered with 200. */
  readonly deleted: ReadonlySet<string>
  /** Ends the clients after their current calls. */
  stop(): Promise<void>
}

let seeds = 1

/** A new made-up person; each pattern is different. */
export function newPerson() {
  const seed = seeds++
  const userRef = `person-${seed}`
  let typed = 0
  const counted = { sent: 0, acknowledged: 0 }
  const next = () => {
    const session = typed++
    return person(seed).types(suggestWords('en', seed * 100 + session).join(' '), session)
  }
  return {
    userRef,
    counted,
    next,
    /** Sends patterns until five are acknowledged or `over` is true. A refused pattern is replaced by a new one. */
    async enroll(ask: Ask, over: () => boolean = () => false): Promise<void> {
      const done = () => over() || counted.acknowledged >= 5
      while (!done() && (await ask('create', 'POST', `/users/${userRef}`)).status >= 300);
      while (!done()) {
        const { session } = await ask('bootstrap', 'GET', `/users/${userRef}`)
        // The loop ends with the session.
        for (let status = session === '' ? 400 : 200; status !== 400 && !done(); ) {
          counted.sent += 1
          const answer = await ask('enroll', 'POST', `/users/${userRef}/typing-patterns`, { session, body: next() })
          status = answer.status
          if (status === 200 && answer.json.created) counted.acknowledged += 1
          // A pattern without an answer may be stored, so the profile may be complete before five are acknowledged.
          if (status === 409) return
        }
      }
    },
  }
}

/** Every fifth pattern of a sign-in is typed by somebody else. */
const STRANGER_EVERY = 5
/** Visits of a person, who is then replaced by a new one: twenty failures in a day would lock the account. */
const VISITS = 20

/**
 * Groups of clients: some enroll one new person after the other, some sign in repeatedly as an enrolled person, some create and
 * delete one account after the other. Each has its own connection and a short pause between calls. A refused pattern is
 * replaced by a new one. Resolves when all clients that sign in are enrolled.
 */
export async function startLoad(
  base: string,
  apikey: string,
  { enrolling = 3, signingIn = 3, leaving = 0 }: { enrolling?: number; signingIn?: number; leaving?: number } = {},
): Promise<Load> {
  const answers: Answer[] = []
  const enrolled = new Map<string, { sent: number; acknowledged: number }>()
  const judged = new Set<string>()
  const authenticated = new Set<string>()
  const deleted = new Set<string>()
  const clients: ReturnType<typeof client>[] = []
  let over = false

  const newClient = (): Ask => {
    const raw = client(base, apikey)
    clients.push(raw)
    return async (...call) => {
      const answer = await raw(...call)
      answers.push(answer)
      await delay(PAUSE_MS)
      return answer
    }
  }
  const newcomer = () => {
    const who = newPerson()
    enrolled.set(who.userRef, who.counted)
    return who
  }
  async function enrollOnAndOn(ask: Ask): Promise<void> {
    while (!over) await newcomer().enroll(ask, () => over)
  }
  async function comeAndGo(ask: Ask): Promise<void> {
    while (!over) {
      const path = `/users/leaver-${seeds++}`
      if ((await ask('create', 'POST', path)).status >= 300) continue
      if ((await ask('delete', 'DELETE', path)).status === 200) deleted.add(path.slice('/users/'.length))
    }
  }
  async function visit(ask: Ask, { userRef, next }: ReturnType<typeof newPerson>): Promise<void> {
    for (let [visits, typed] = [0, 0]; visits < VISITS && !over; ) {
      const { session } = await ask('bootstrap', 'GET', `/users/${userRef}`)
      if (session === '') continue
      visits += 1
      for (let n = 0; n < 3 && !over; n++) {
        const body = ++typed % STRANGER_EVERY === 0 ? stranger() : next()
        const { status, json } = await ask('verify', 'POST', `/users/${userRef}/verify`, { session, body })
        if (status === 400) break
        if (status !== 200 || !['verified', 'rejected'].includes(json.action)) continue
        judged.add(json.authentication.id)
        if (json.authentication.authenticated) authenticated.add(json.authentication.id)
      }
    }
  }
  async function signInAgainAndAgain(ask: Ask, first: ReturnType<typeof newPerson>): Promise<void> {
    for (let who = first; !over; ) {
      await visit(ask, who)
      who = newcomer()
      await who.enroll(ask, () => over)
    }
  }

  const signers = Array.from({ length: signingIn }, () => ({ ask: newClient(), who: newcomer() }))
  await Promise.all(signers.map(({ ask, who }) => who.enroll(ask)))
  const running = [
    ...Array.from({ length: enrolling }, () => enrollOnAndOn(newClient())),
    ...Array.from({ length: leaving }, () => comeAndGo(newClient())),
    ...signers.map(({ ask, who }) => signInAgainAndAgain(ask, who)),
  ]
  return {
    answers,
    enrolled,
    judged,
    authenticated,
    deleted,
    async stop() {
      over = true
      await Promise.all(running)
      for (const one of clients) one.end()
    },
  }
}
