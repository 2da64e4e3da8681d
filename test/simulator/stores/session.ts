import type { NewSession, ReservedPerson, Session, SessionStore, SessionWords } from '../../../src/storage/session.js'
import { type Immediate, keyOf } from './tables.js'

interface SessionRow extends Session {
  readonly carried: ReservedPerson | null
  readonly implicit: boolean
  readonly mintedAt: number
  readonly expiresAt: number
}

export interface MemorySessions extends Immediate<SessionStore> {
  flush(): void
  /**
   * The database dies and may lose the latest commits that were not flushed to the disk. `lost` returns how many of `n`
   * are lost.
   */
  loseLatest(lost: (n: number) => number): void
  /** A commit has reached the disk, and all earlier ones with it. */
  durable(): void
  /** Live sessions of a user, by the SHA-256 of their tokens. */
  of(organizationId: string, userRef: string): ReadonlyMap<string, SessionRow>
  /** Start of the oldest live session, ms; null if none. */
  oldest(): number | null
}

const UNUSED = { biometric: 0, security_code: 0, typingFailed: false }

const isSame = (a: SessionWords | null, b: SessionWords | null) => a?.issued === b?.issued && a?.used === b?.used

/** Sessions with the semantics of Redis and PostgreSQL. Expired ones stay until a call reads them. */
export function memorySessions(now: () => number): MemorySessions {
  const users = new Map<string, Map<string, SessionRow>>()
  let undo: (() => void)[] = []

  const write = (place: string, sha256: string, row: SessionRow | null) => {
    const sessions = users.get(place) ?? new Map<string, SessionRow>()
    users.set(place, sessions)
    const before = sessions.get(sha256)
    undo.push(() => (before === undefined ? sessions.delete(sha256) : sessions.set(sha256, before)))
    if (row === null) sessions.delete(sha256)
    else sessions.set(sha256, row)
  }
  const liveRow = (place: string, sha256: string): SessionRow | null => {
    const row = users.get(place)?.get(sha256)
    return row === undefined || row.expiresAt <= now() ? null : row
  }
  const change = (place: string, sha256: string, changes: (row: SessionRow) => Partial<SessionRow>): void => {
    const row = liveRow(place, sha256)
    if (row !== null) write(place, sha256, { ...row, ...changes(row) })
  }
  const shown = ({ carried: ____, implicit: _, mintedAt: __, expiresAt: ___, ...session }: SessionRow): Session =>
    session
  const reservations = (place: string) => {
    let n = 0
    for (const { used } of users.get(place)?.values() ?? []) n += used.biometric + used.security_code
    return n
  }
  const minted = (place: string, given: NewSession, implicit: boolean) => {
    const { userRef, memberRef, memberVersion = null, lifetimeMs, words, carried: sealed = null } = given
    const carried = sealed === null ? null : { sealed, nth: reservations(place) }
    const issued = words == null ? null : { issued: words, used: 0 }
    const session: Session = { userRef, memberRef, memberVersion, used: UNUSED, reportedAction: null, words: issued }
    return { ...session, carried, implicit, mintedAt: now(), expiresAt: now() + lifetimeMs }
  }

  return {
    keepsCarried: true,
    mint(organizationId, session) {
      const place = keyOf(organizationId, session.userRef)
      write(place, session.sha256, minted(place, session, false))
    },
    mintImplicit(organizationId, session) {
      const { sha256, userRef, memberRef, lifetimeMs } = session
      const place = keyOf(organizationId, userRef)
      for (const [there, row] of users.get(place) ?? []) {
        if (!row.implicit || row.memberRef !== memberRef) continue
        if (row.expiresAt > now()) return { ...shown(row), sha256: there, remainingMs: row.expiresAt - now() }
        write(place, there, null)
      }
      const row = minted(place, { ...session, memberVersion: null, words: null }, true)
      write(place, sha256, row)
      return { ...shown(row), sha256, remainingMs: lifetimeMs }
    },
    find(organizationId, userRef, sha256) {
      const row = liveRow(keyOf(organizationId, userRef), sha256)
      return row === null ? null : shown(row)
    },
    designate(organizationId, userRef, sha256, memberRef) {
      const place = keyOf(organizationId, userRef)
      const row = liveRow(place, sha256)
      if (row === null || (row.memberRef !== null && row.memberRef !== memberRef)) return false
      write(place, sha256, { ...row, memberRef })
      return true
    },
    reserve(organizationId, userRef, sha256, { kind, budget, withPerson = false }) {
      const place = keyOf(organizationId, userRef)
      const row = liveRow(place, sha256)
      if (row === null) return null
      if (withPerson && row.carried === null) return { outcome: 'empty', session: shown(row) }
      if (row.used[kind] >= budget) return { outcome: 'exhausted', session: shown(row) }
      const words = row.words && { ...row.words, used: row.words.used + (kind === 'biometric' ? 1 : 0) }
      const carried = withPerson ? null : row.carried
      const after = { ...row, used: { ...row.used, [kind]: row.used[kind] + 1 }, words, carried }
      write(place, sha256, after)
      const person = withPerson && row.carried !== null ? { person: row.carried } : {}
      return { outcome: 'reserved', session: shown(after), nth: reservations(place), ...person }
    },
    release: (organizationId, userRef, sha256, { kind, words }) =>
      change(keyOf(organizationId, userRef), sha256, ({ used, words: now }) => ({
        used: { ...used, [kind]: Math.max(0, used[kind] - 1) },
        words:
          kind === 'biometric' && now !== null && isSame(now, words) && now.used > 0
            ? { ...now, used: now.used - 1 }
            : now,
      })),
    changeWords(organizationId, userRef, sha256, { from, to }) {
      const place = keyOf(organizationId, userRef)
      const row = liveRow(place, sha256)
      if (row === null) return null
      if (!isSame(row.words, from)) return { changed: false, words: row.words }
      write(place, sha256, { ...row, words: to })
      return { changed: true, words: to }
    },
    markTypingFailed: (organizationId, userRef, sha256) =>
      change(keyOf(organizationId, userRef), sha256, ({ used }) => ({ used: { ...used, typingFailed: true } })),
    markReported: (organizationId, userRef, sha256, actionId) =>
      change(keyOf(organizationId, userRef), sha256, () => ({ reportedAction: actionId })),
    end: (organizationId, userRef, sha256) => write(keyOf(organizationId, userRef), sha256, null),
    endAll(organizationId, userRef, memberRef, except) {
      const place = keyOf(organizationId, userRef)
      for (const [sha256, row] of [...(users.get(place) ?? [])])
        if (sha256 !== except && (memberRef === null || row.memberRef === null || row.memberRef === memberRef))
          write(place, sha256, null)
    },
    flush() {
      users.clear()
      undo = []
    },
    loseLatest(lost) {
      for (const step of undo.splice(undo.length - lost(undo.length)).reverse()) step()
      undo = []
    },
    durable() {
      undo = []
    },
    of: (organizationId, userRef) =>
      new Map([...(users.get(keyOf(organizationId, userRef)) ?? [])].filter(([, { expiresAt }]) => expiresAt > now())),
    oldest() {
      let oldest: number | null = null
      for (const sessions of users.values())
        for (const { mintedAt, expiresAt } of sessions.values())
          if (expiresAt > now() && (oldest === null || mintedAt < oldest)) oldest = mintedAt
      return oldest
    },
  }
}
