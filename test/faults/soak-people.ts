import { request } from '../../bench/shared/drive.js'
import { suggestWords } from '../../src/domain/typing-words.js'
import { person, randomFrom } from '../../src/typist/made-up-person.js'
import type { Load } from './load.js'
import type { Asker } from './steady-load.js'

/** What everybody was told, to be held against the database. */
interface Books extends Pick<Load, 'enrolled' | 'judged' | 'authenticated'> {
  /** Attempts that were answered as judged, and failed. */
  readonly failed: () => number
  /** Accounts whose deletion was answered with 200. */
  readonly deleted: ReadonlySet<string>
  /** Sessions that were refused as unknown: when they were begun, and when refused. */
  readonly sessionsLost: readonly { readonly begunAt: number; readonly at: number }[]
  /** Answers that are neither an outage nor in the order of things. */
  readonly odd: readonly string[]
}

export interface People extends Books {
  /** Whoever asks next: one of them at a time, until they have heard the answer. */
  choose(): Asker
  /** All who sign in are enrolled. */
  ready(): boolean
  /** A new session of somebody: what needs a connection to the database. */
  beginner(): Asker
  /** Somebody with a security code: what needs a thread that hashes. */
  coder(): Asker
}

interface Crowd {
  readonly apikey: string
  readonly seed: number
  /** Who sign in; somebody new takes the place of somebody else. */
  readonly signers: number
  /** Who are imitated by somebody that does not let off. */
  readonly beset: number
}

const A_SESSION = 3
const CODE = '918273'
const WRONG_CODE = '172839'
/** Half of what a session lives: none is used that might have run out. */
const FRESH_MS = 450_000

/** Shares of all requests; the rest, four in five, are sign-ins by typing: a new session and three verifies each. */
const SHARES = { enrolling: 0.08, beset: 0.04, codes: 0.04, leaving: 0.02, reading: 0.02 }
/** Of the sign-ins by typing, how many somebody else types. */
const WRONG = 0.05

/** People in a mixed load, in an order and with typing that `seed` fixes. */
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
  /** An outage, or nothing at all: to be asked again. */
  const isOutage = (status: number) => status === 0 || status >= 500
  const note = (what: string, status: number, body: Buffer) => odd.push(`${what}: ${status} ${body.toString()}`)

  /** A session of somebody: the one it has, or '' until a new one is begun. */
  function sessionOf(userRef: string) {
    let [id, begunAt, left] = ['', 0, 0]
    return {
      /** Null where a new one has to be begun first. */
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
      /** 400: it is not known any more. */
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
    // Hashes of codes have a queue of their own, and are sent away where it is full.
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

  /** Begins a session and uses it up, again and again. */
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
  /** Somebody nobody is, far slower than all others, and different each time. */
  const stranger = () => {
    const n = 500_000 + names++
    return person(n).types(wordsOf(n), n, { tempo: 2 })
  }

  /** Is created and enrolled; `done` once five patterns are stored. What is refused is typed anew. */
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
        // What was not answered may have been stored: then the profile is complete before five are acknowledged.
        else if (status === 409 && counted.sent > counted.acknowledged) return finish()
        // Made-up people are now and then taken for the machines they are.
        else if (status !== 422 || !body.includes('detection-bot')) note('enroll', status, body)
        if (counted.acknowledged >= 5) finish()
      },
    }
  }

  /** Has a code and nothing else; one in ten is wrong. */
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
        // The same code again is refused as the previous one: an answer that was lost had set it.
        if (status >= 300 && !(doing === 'choose' && status === 422)) note(doing, status, body)
        doing = doing === 'create' ? 'begin' : 'visit'
      },
    }
  }

  /** Comes and goes: an account after the other is created and deleted. */
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
        // 404: an answer that was lost had deleted it.
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
  /** Those who were enrolled, and are somebody else from now on. */
  const finished = new WeakSet<Asker>()

  /** One who asks, back among the idle once they have heard. */
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
        // Now and then the one whose account it is.
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
