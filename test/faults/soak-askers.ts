import { request } from '../../bench/shared/drive.js'
import { suggestWords } from '../../src/domain/typing-words.js'
import { person } from '../../src/typist/made-up-person.js'
import type { Load } from './load.js'
import type { Asker } from './steady-load.js'

/** The answers of all clients, to compare with the database. */
export interface AnswerRecords extends Pick<Load, 'enrolled' | 'judged' | 'authenticated'> {
  /** Number of attempts that were judged and failed. */
  readonly failed: () => number
  /** Accounts whose deletion was answered with 200. */
  readonly deleted: ReadonlySet<string>
  /** Sessions that were refused as unknown: time of their start and of the refusal, ms. */
  readonly sessionsLost: readonly { readonly begunAt: number; readonly at: number }[]
  /** Answers that are neither an outage nor expected. */
  readonly odd: readonly string[]
}

export type Context = ReturnType<typeof createContext>

const A_SESSION = 3
const CODE = '918273'
const WRONG_CODE = '172839'
/** Half the lifetime of a session, so that no used session has expired. */
const FRESH_MS = 450_000

/** The requests and the answer records that all clients of a load share. */
export function createContext(apikey: string, random: () => number) {
  const ask = (what: string, method: string, path: string, session = '', body?: unknown) => {
    const head = {
      apikey,
      ...(session === '' ? {} : { 'x-service-session': session }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    }
    return { what, bytes: request(method, path, head, body === undefined ? '' : JSON.stringify(body)) }
  }
  const odd: string[] = []
  return {
    random,
    ask,
    begin: (userRef: string) => ask('bootstrap', 'GET', `/core/users/${userRef}`),
    create: (userRef: string) => ask('create', 'POST', `/core/users/${userRef}`),
    note: (what: string, status: number, body: Buffer) => odd.push(`${what}: ${status} ${body.toString()}`),
    enrolled: new Map<string, { sent: number; acknowledged: number }>(),
    judged: new Set<string>(),
    authenticated: new Set<string>(),
    deleted: new Set<string>(),
    sessionsLost: [] as { begunAt: number; at: number }[],
    odd,
    /** Attempts that were judged and failed. */
    nFailed: 0,
    /** Number of the next name. */
    names: 0,
  }
}

/** An outage or no answer: the client retries. */
const isOutage = (status: number) => status === 0 || status >= 500

/** The session of a client: its current one, or '' until a new one begins. */
function sessionOf({ begin, note, sessionsLost }: Context, userRef: string) {
  let [id, begunAt, left] = ['', 0, 0]
  return {
    /** The session id; null if a new session must begin first. */
    use(): string | null {
      if (left === 0 || performance.now() - begunAt > FRESH_MS) return null
      left -= 1
      return id
    },
    begin: () => begin(userRef),
    begun(status: number, body: Buffer): void {
      if (status === 200) [id, begunAt, left] = [JSON.parse(body.toString()).sessionId, performance.now(), A_SESSION]
      else if (!isOutage(status)) note('bootstrap', status, body)
    },
    usedUp(): void {
      left = 0
    },
    /** After a 400: the service does not know the session. */
    lost(): void {
      sessionsLost.push({ begunAt, at: performance.now() })
      left = 0
    },
    goOn(): void {
      left = Math.max(1, left)
    },
  }
}
type Session = ReturnType<typeof sessionOf>

function heardVerify(context: Context, session: Session, status: number, body: Buffer): void {
  const { judged, authenticated, note } = context
  // Code hashes have their own queue, and are refused with 429 when it is full.
  if (isOutage(status) || status === 429) return
  if (status === 400) {
    session.lost()
    return
  }
  const { action, authentication } =
    status === 200 ? JSON.parse(body.toString()) : { action: 'none', authentication: null }
  if (action === 'verified' || action === 'rejected') {
    judged.add(authentication.id)
    if (authentication.authenticated) authenticated.add(authentication.id)
    else context.nFailed += 1
  } else if (action === 'refused') session.usedUp()
  else note('verify', status, body)
}

/** A client that begins a session, uses it up, and repeats that. */
export function visitor(context: Context, userRef: string, attempt: () => unknown, what = 'verify'): Asker {
  const session = sessionOf(context, userRef)
  let beginning = false
  return {
    next() {
      const id = session.use()
      beginning = id === null
      return id === null ? session.begin() : context.ask(what, 'POST', `/core/users/${userRef}/verify`, id, attempt())
    },
    heard(status, body) {
      if (beginning) session.begun(status, body)
      else heardVerify(context, session, status, body)
    },
  }
}

const wordsOf = (n: number) => suggestWords('en', n).join(' ')

/** Typing of a new impostor, far slower than all enrolled people. */
export function stranger(context: Context) {
  const n = 500_000 + context.names++
  return person(n).types(wordsOf(n), n, { tempo: 2 })
}

/**
 * A client that creates an account and enrolls; calls `done` when five patterns are stored. A refused pattern is
 * replaced by a new one.
 */
export function newcomer(context: Context, done: (userRef: string, typing: () => unknown) => void): Asker {
  const { ask, create, note, enrolled } = context
  const n = context.names++
  const userRef = `person-${n}`
  const counted = { sent: 0, acknowledged: 0 }
  let typed = 0
  const typing = () => person(n).types(wordsOf(n * 100 + typed), typed++)
  const session = sessionOf(context, userRef)
  let doing: 'create' | 'begin' | 'enroll' = 'create'
  enrolled.set(userRef, counted)
  const finish = () => done(userRef, typing)
  return {
    next() {
      if (doing === 'create') return create(userRef)
      const id = session.use()
      doing = id === null ? 'begin' : 'enroll'
      if (id === null) return session.begin()
      counted.sent += 1
      return ask('enroll', 'POST', `/core/users/${userRef}/typing-patterns`, id, typing())
    },
    heard(status, body) {
      if (doing === 'begin') return session.begun(status, body)
      if (isOutage(status)) return
      if (doing === 'create') {
        if (status >= 300) note('create', status, body)
        doing = 'begin'
        return
      }
      if (status === 400) return session.lost()
      session.goOn()
      if (status === 200) counted.acknowledged += 1
      // A pattern without an answer may be stored, so the profile may be complete before five are acknowledged.
      else if (status === 409 && counted.sent > counted.acknowledged) return finish()
      // A made-up person is sometimes taken for a machine.
      else if (status !== 422 || !body.includes('detection-bot')) note('enroll', status, body)
      if (counted.acknowledged >= 5) finish()
    },
  }
}

/** A client with a code and no profile; one code in ten is wrong. */
export function coder(context: Context): Asker {
  const { ask, create, note, random } = context
  const userRef = `coder-${context.names++}`
  const session = sessionOf(context, userRef)
  const visits = visitor(context, userRef, () => ({ securityCode: random() < 0.1 ? WRONG_CODE : CODE }), 'code')
  let doing: 'create' | 'begin' | 'choose' | 'visit' = 'create'
  return {
    next() {
      if (doing === 'visit') return visits.next()
      if (doing === 'create') return create(userRef)
      const id = session.use()
      doing = id === null ? 'begin' : 'choose'
      if (id === null) return session.begin()
      return ask('choose code', 'PUT', `/core/users/${userRef}/security-code`, id, { securityCode: CODE })
    },
    heard(status, body) {
      if (doing === 'visit') return visits.heard(status, body)
      if (doing === 'begin') return session.begun(status, body)
      if (isOutage(status) || status === 429) return
      if (status === 400) return session.lost()
      // 422: the request without an answer had set this code, and a code may not equal the previous one.
      if (status >= 300 && !(doing === 'choose' && status === 422)) note(doing, status, body)
      doing = doing === 'create' ? 'begin' : 'visit'
    },
  }
}

/** A client that creates and deletes one account after the other. */
export function leaver(context: Context): Asker {
  const { ask, create, note, deleted } = context
  let userRef = ''
  let created = true
  return {
    next() {
      if (userRef === '') [userRef, created] = [`gone-${context.names++}`, false]
      return created ? ask('delete', 'DELETE', `/core/users/${userRef}`) : create(userRef)
    },
    heard(status, body) {
      if (isOutage(status)) return
      if (!created) {
        if (status >= 300) note('create', status, body)
        created = true
        return
      }
      // 404: the request without an answer had deleted it.
      if (status !== 200 && status !== 404) note('delete', status, body)
      deleted.add(userRef)
      userRef = ''
    },
  }
}

/** A client that reads lists of the dashboard. */
export function reader({ ask, note, random }: Context): Asker {
  const paths = ['/dashboard/users?limit=20', '/dashboard/authentications?limit=20']
  return {
    next: () => ask('dashboard', 'GET', paths[random() < 0.5 ? 0 : 1] ?? ''),
    heard(status, body) {
      if (status !== 200 && !isOutage(status)) note('dashboard', status, body)
    },
  }
}
