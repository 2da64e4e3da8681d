import { request } from '../../bench/shared/drive.js'
import { suggestWords } from '../../src/domain/typing-words.js'
import { person, randomFrom } from '../../src/typist/made-up-person.js'
import type { Load } from './load.js'
import type { Asker } from './steady-load.js'

/** The answers of all clients, to compare with the database. */
interface AnswerRecords extends Pick<Load, 'enrolled' | 'judged' | 'authenticated'> {
  /** Number of attempts that were judged and failed. */
  readonly failed: () => number
  /** Accounts whose deletion was answered with 200. */
  readonly deleted: ReadonlySet<string>
  /** Sessions that were refused as unknown: time of their start and of the refusal, ms. */
  readonly sessionsLost: readonly { readonly begunAt: number; readonly at: number }[]
  /** Answers that are neither an outage nor expected. */
  readonly odd: readonly string[]
}

export interface People extends AnswerRecords {
  /** The next client to send a request. A client is not chosen again before it has its answer. */
  choose(): Asker
  /** Whether enough clients that sign in are enrolled. */
  ready(): boolean
  /** A client that begins a session, which needs a connection to the database. */
  beginner(): Asker
  /** A client with a security code, which needs a hash thread. */
  coder(): Asker
}

interface Crowd {
  readonly apikey: string
  readonly seed: number
  /** Number of clients that sign in. A newly enrolled one replaces the oldest. */
  readonly signers: number
  /** Number of clients that an impostor attacks continuously. */
  readonly beset: number
}

const A_SESSION = 3
const CODE = '918273'
const WRONG_CODE = '172839'
/** Half the lifetime of a session, so that no used session has expired. */
const FRESH_MS = 450_000

/** Shares of all requests. The other four in five are sign-ins by typing: a new session and three verifies each. */
const SHARES = { enrolling: 0.08, beset: 0.04, codes: 0.04, leaving: 0.02, reading: 0.02 }
/** Share of impostors among the sign-ins by typing. */
const WRONG = 0.05

/** The clients of a mixed load; `seed` fixes their order and their typing. */
export function createPeople({ apikey, seed, signers, beset }: Crowd): People {
  const random = randomFrom(seed)
  const enrolled = new Map<string, { sent: number; acknowledged: number }>()
  const judged = new Set<string>()
  const authenticated = new Set<string>()
  const deleted = new Set<string>()
  const sessionsLost: { begunAt: number; at: number }[] = []
  const odd: string[] = []
  let failed = 0
  let names = 0

  const ask = (what: string, method: string, path: string, session = '', body?: unknown) => {
    const head = {
      apikey,
      ...(session === '' ? {} : { 'x-service-session': session }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    }
    return { what, bytes: request(method, path, head, body === undefined ? '' : JSON.stringify(body)) }
  }
  const begin = (userRef: string) => ask('bootstrap', 'GET', `/core/users/${userRef}`)
  const create = (userRef: string) => ask('create', 'POST', `/core/users/${userRef}`)
  /** An outage or no answer: the client asks again. */
  const isOutage = (status: number) => status === 0 || status >= 500
  const note = (what: string, status: number, body: Buffer) => odd.push(`${what}: ${status} ${body.toString()}`)

  /** The session of a client: its current one, or '' until a new one begins. */
  function sessionOf(userRef: string) {
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

  function heardVerify(session: Session, status: number, body: Buffer): void {
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
      else failed += 1
    } else if (action === 'refused') session.usedUp()
    else note('verify', status, body)
  }

  /** A client that begins a session, uses it up, and repeats that. */
  function visitor(userRef: string, attempt: () => unknown, what = 'verify'): Asker {
    const session = sessionOf(userRef)
    let beginning = false
    return {
      next() {
        const id = session.use()
        beginning = id === null
        return id === null ? session.begin() : ask(what, 'POST', `/core/users/${userRef}/verify`, id, attempt())
      },
      heard(status, body) {
        if (beginning) session.begun(status, body)
        else heardVerify(session, status, body)
      },
    }
  }

  const wordsOf = (n: number) => suggestWords('en', n).join(' ')
  /** Typing of a new impostor, far slower than all enrolled people. */
  const stranger = () => {
    const n = 500_000 + names++
    return person(n).types(wordsOf(n), n, { tempo: 2 })
  }

  /**
   * A client that creates an account and enrolls; calls `done` when five patterns are stored. A refused pattern is
   * replaced by a new one.
   */
  function newcomer(done: (userRef: string, typing: () => unknown) => void): Asker {
    const n = names++
    const userRef = `person-${n}`
    const counted = { sent: 0, acknowledged: 0 }
    let typed = 0
    const typing = () => person(n).types(wordsOf(n * 100 + typed), typed++)
    const session = sessionOf(userRef)
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
  function coder(): Asker {
    const userRef = `coder-${names++}`
    const session = sessionOf(userRef)
    const visits = visitor(userRef, () => ({ securityCode: random() < 0.1 ? WRONG_CODE : CODE }), 'code')
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
  function leaver(): Asker {
    let userRef = ''
    let created = true
    return {
      next() {
        if (userRef === '') [userRef, created] = [`gone-${names++}`, false]
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

  function reader(): Asker {
    const paths = ['/dashboard/users?limit=20', '/dashboard/authentications?limit=20']
    return {
      next: () => ask('dashboard', 'GET', paths[random() < 0.5 ? 0 : 1] ?? ''),
      heard(status, body) {
        if (status !== 200 && !isOutage(status)) note('dashboard', status, body)
      },
    }
  }

  const idle = { signing: [], enrolling: [], beset: [], codes: [], leaving: [], reading: [] } as Record<string, Asker[]>
  let [signing, besetNow] = [0, 0]
  /** Newcomers that are enrolled and continue as another client. */
  const finished = new WeakSet<Asker>()

  /** An idle client of this kind, or a new one; null if there is none. It is idle again after its answer. */
  function of(kind: string, make: (() => Asker) | null): Asker | null {
    const asker = idle[kind]?.shift() ?? make?.() ?? null
    if (asker === null) return null
    return {
      next: () => asker.next(),
      heard(status, body) {
        asker.heard(status, body)
        if (!finished.delete(asker)) idle[kind]?.push(asker)
      },
    }
  }
  function comer(): Asker {
    const asker: Asker = newcomer((userRef, typing) => {
      finished.add(asker)
      if (besetNow < beset) {
        besetNow += 1
        // One pattern in five is the owner's.
        idle.beset?.push(visitor(userRef, () => (random() < 0.2 ? typing() : stranger())))
        return
      }
      idle.signing?.push(visitor(userRef, () => (random() < WRONG ? stranger() : typing())))
      if (signing < signers) signing += 1
      else idle.signing?.shift()
    })
    return asker
  }
  const enrolling = (): Asker => of('enrolling', comer) ?? comer()
  const ready = () => signing >= signers

  return {
    enrolled,
    judged,
    authenticated,
    failed: () => failed,
    deleted,
    sessionsLost,
    odd,
    ready,
    choose() {
      if (!ready()) return enrolling()
      let at = random()
      const falls = (share: number) => {
        at -= share
        return at < 0
      }
      const chosen = falls(SHARES.enrolling)
        ? null
        : falls(SHARES.beset)
          ? of('beset', null)
          : falls(SHARES.codes)
            ? of('codes', coder)
            : falls(SHARES.leaving)
              ? of('leaving', leaver)
              : falls(SHARES.reading)
                ? of('reading', reader)
                : of('signing', null)
      return chosen ?? enrolling()
    },
    coder: () => of('codes', coder) ?? coder(),
    beginner: () => ({ next: () => begin('person-0'), heard: () => {} }),
  }
}
