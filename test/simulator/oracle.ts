import { isDeepStrictEqual } from 'node:util'
import type { Account, Member } from '../../src/domain/account.js'
import { type AttemptKind, FAILURES_PER_DAY } from '../../src/domain/attempts.js'
import type { BiometricStatus } from '../../src/domain/biometric-status.js'
import { Refusal } from '../../src/domain/refusal.js'
import { sha256Hex, shownSessionId } from '../../src/flows/process/tokens.js'
import { SESSION_LIFETIME_MS } from '../../src/flows/session/bootstrap.js'
import type { Authentication } from '../../src/storage/authentication.js'
import { type Entry, failuresOf, isClosed, isDead } from '../domain/attempts-oracle.js'
import type { Invariant, Violation } from './invariants.js'
import type { Request } from './requests.js'
import { policyOf, TARGETS } from './service.js'
import type { MemorySessions } from './stores/session.js'
import { type Committed, keyOf, type LinkEnd, type MemberRow, type Tables } from './stores/tables.js'
import type { Sealed } from './typists.js'

interface Needs {
  readonly tables: Tables
  readonly sessions: MemorySessions
  readonly now: () => number
  readonly step: () => number
  readonly boundTo: (sealed: Uint8Array) => Sealed | null
  readonly codeOf: (hash: string | null) => string | null
  readonly violated: (violation: Violation) => void
  /** Counts a state that was reached; the test requires that a run reaches all of them. */
  readonly saw: (what: string) => void
}

/** A member's row at one version. */
interface Snapshot {
  readonly row: MemberRow
  readonly member: Member
  /** Enrolled references of the current generation, and of the next. */
  readonly n: number
  readonly nNext: number
}

interface Minted {
  readonly place: string
  readonly at: number
  readonly step: number
}

const DAY_MS = 24 * 3_600_000
const YEAR_MS = 365 * DAY_MS
const KINDS = ['biometric', 'security_code'] as const

/** The fields of an answer that the oracle reads; answers of the flows have more. */
interface AnswerPart {
  readonly account?: Account
  readonly member?: Member | null
  readonly biometricStatus?: BiometricStatus
  readonly nPatternsRef?: number
  /** Time of the decision, ms, if another await followed it; absent otherwise. */
  readonly at?: number
}

/**
 * Checks commits and answers against the invariants. Its knowledge comes from commits and answers alone, never from the
 * counters that it checks. One long function, because each invariant needs the state that the others have collected.
 */
export function createOracle(needs: Needs) {
  const { tables, sessions, now, step, violated, saw } = needs
  const snapshots = new Map<string, Map<number, Snapshot>>()
  const organizationOf = new Map<string, string>()
  /**
   * By member: its own history and those of references that it took over. An attempt is open only if all of them allow
   * it.
   */
  const histories = new Map<string, Entry[][]>()
  /** Histories of erased and renamed members, by organization, userRef and memberRef. */
  const carried = new Map<string, { readonly of: string; readonly histories: Entry[][]; readonly until: number }>()
  const scored = new Map<string, number>()
  /** By session and kind: attempts that began, and those answered as free. */
  const begun = new Map<string, number>()
  const free = new Map<string, number>()
  const attempts = new Map<string, { readonly authenticated: boolean; readonly code: string | null }>()
  const stored = new Set<string>()
  const codes = new Set<string>()
  const erased = new Set<string>()
  const shown = new Set<string>()
  const links = new Map<string, { readonly madeAt: number; ended: LinkEnd | null; completions: number }>()
  let nLinks = 0
  const moves = new Map<string, number>()
  const tokens = new Map<string, Minted>()

  const hold = (invariant: Invariant, holds: boolean, found: () => string) => {
    if (!holds) violated({ invariant, found: found() })
  }
  const historiesOf = ({ member }: MemberRow): Entry[][] => {
    const there = histories.get(member.id) ?? [[]]
    histories.set(member.id, there)
    return there
  }
  const note = (row: MemberRow, entry: Entry) => {
    for (const history of historiesOf(row)) history.push(entry)
  }
  const personOf = ({ organizationId, of, member }: MemberRow, memberRef = member.memberRef) =>
    keyOf(organizationId, of.account.userRef, memberRef)
  const takeOn = (row: MemberRow) => {
    const kept = carried.get(personOf(row))
    carried.delete(personOf(row))
    if (kept !== undefined && kept.until > now() && kept.of !== row.member.id) historiesOf(row).push(...kept.histories)
  }
  const leave = (row: MemberRow, memberRef: string) => {
    const left = structuredClone(historiesOf(row))
    const counts = left.some((one) => KINDS.some((kind) => failuresOf(one, kind).length > 0 || isDead(one, kind)))
    if (counts) carried.set(personOf(row, memberRef), { of: row.member.id, histories: left, until: now() + DAY_MS })
  }

  const onCommit: { [What in Committed['what']]: (event: Extract<Committed, { what: What }>) => void } = {
    created({ row }) {
      organizationOf.set(row.member.id, row.organizationId)
      organizationOf.set(row.of.account.id, row.organizationId)
      takeOn(row)
    },
    returned({ row }) {
      carried.delete(personOf(row))
    },
    erased({ row }) {
      erased.add(row.member.id)
      leave(row, row.member.memberRef)
    },
    renamed({ row, from }) {
      leave(row, from)
      takeOn(row)
    },
    member({ row }) {
      holdRow(row)
    },
    moved({ row }) {
      moves.set(keyOf(row.organizationId, row.account.userRef), step())
    },
    stored({ row, reference }) {
      stored.add(reference.id)
      const bound = needs.boundTo(reference.sealed)
      hold(
        'I9',
        bound?.organizationId === row.organizationId && bound.memberId === row.member.id,
        () => `a reference of ${row.member.id} is sealed for ${JSON.stringify(bound)}`,
      )
    },
    reset: ({ row }) => note(row, { at: now(), what: 'reset' }),
    unlock: ({ row }) => note(row, { at: now(), what: 'unlock' }),
    lock: ({ row }) => note(row, { at: now(), what: 'lock' }),
    'new code'({ row }) {
      note(row, { at: now(), what: 'new code' })
      codes.add(needs.codeOf(row.codeHash) ?? '')
    },
    attempt: (event) => holdAttempt(event),
    'link-made'({ link }) {
      nLinks++
      links.set(link.id, { madeAt: step(), ended: null, completions: 0 })
    },
    'link-ended'({ link, how }) {
      nLinks--
      saw(`link ${how}`)
      const known = links.get(link.id)
      if (known !== undefined) known.ended = how
    },
  }

  /** Checks a member's row after a commit. */
  function holdRow(row: MemberRow): void {
    const { member, references, archivedAt } = row
    const { id, generation, nVisible, nSensitive, successor } = member
    hold('I4', !erased.has(id), () => `${id} was erased and is written`)
    let [n, nNext, odd] = [0, 0, 0]
    let [visible, visibleNext] = [0, 0]
    for (const one of references) {
      const isVisible = one.mode === 'visible' ? 1 : 0
      if (one.kind === 'adaptive') odd += one.generation === generation ? 0 : 1
      else if (one.generation === generation) [n, visible] = [n + 1, visible + isVisible]
      else if (one.generation === generation + 1) [nNext, visibleNext] = [nNext + 1, visibleNext + isVisible]
      else odd++
    }
    const found = [visible, n - visible, visibleNext, nNext - visibleNext, odd].join()
    const counted = [nVisible, nSensitive, successor?.nVisible ?? 0, successor?.nSensitive ?? 0, 0].join()
    hold(
      'I5',
      found === counted && member.nPatternsRef === n,
      () => `${id} counts ${counted} references and has ${found}`,
    )
    hold(
      'I11',
      row.codeHash === null || needs.codeOf(row.codeHash) !== null,
      () => `a code of ${id} is stored in plain text`,
    )
    const bare = references.length === 0 && row.codeHash === null && row.codePreviousHash === null
    hold('I4', archivedAt === null || bare, () => `${id} was removed from the account and still has typing or a code`)
    const versions = snapshots.get(id) ?? new Map<number, Snapshot>()
    snapshots.set(id, versions)
    versions.set(member.rowVersion, { row, member, n, nNext })
  }

  function holdAttempt({ row, before, codeHash, attempt }: Extract<Committed, { what: 'attempt' }>): void {
    const { id, sessionId, method, createdAt, authenticated, facts } = attempt
    const { organizationId } = row
    attempts.set(id, { authenticated, code: needs.codeOf(codeHash) })
    hold('I4', row.archivedAt === null, () => `an attempt of ${row.member.id} after its removal from the account`)
    const own = attempt.accountId === row.of.account.id && attempt.policyId === `policy of ${organizationId}`
    hold('I9', own, () => `attempt ${id} names ${attempt.accountId} and ${attempt.policyId}`)

    const fallback = policyOf(organizationId).security_code_fallback
    const budget = method === 'biometric' ? fallback.max_biometric_attempts : fallback.max_code_attempts
    const visit = keyOf(organizationId, sessionId, method)
    const n = (scored.get(visit) ?? 0) + 1
    scored.set(visit, n)
    hold('I1', n <= budget, () => `${n} attempts by ${method} in session ${sessionId}; the budget is ${budget}`)

    const closing = historiesOf(row).find((history) => isClosed(history, method, createdAt)) ?? null
    const open = closing === null
    hold(authenticated ? 'I3' : 'I2', open, () => `attempt ${id} by ${method} after ${historyText(closing ?? [])}`)
    note(row, { at: createdAt, what: authenticated ? 'success' : 'failure', kind: method })
    const { streak, recentFailures } = row.member.attempts[method]
    if (!authenticated) saw(`${method}: ${streak} in a row`)
    if (recentFailures.length === FAILURES_PER_DAY) saw(`${method}: ${FAILURES_PER_DAY} in a day`)

    const { set, temporary, used, expiresAt } = before.code
    const usable = set && (!temporary || (!used && expiresAt !== null && createdAt < expiresAt))
    if (method === 'security_code') hold('I11', usable, () => `attempt ${id} with a code that is used or expired`)
    if (facts === null) return
    const there = row.references
      .filter((one) => one.kind === 'enrolled' && one.generation === row.member.generation)
      .map((one) => one.id)
      .join()
    const judgedOn = facts.references.join()
    hold('verdict', judgedOn === there, () => `attempt ${id} was judged on ${judgedOn}, stored are ${there}`)
  }

  /** Checks the account and the member of an answer. */
  function holdAnswer({ organizationId }: Request['who'], answer: AnswerPart): void {
    const { account, member } = answer
    for (const id of [account?.id, member?.id]) {
      if (id === undefined) continue
      const owner = organizationOf.get(id) ?? organizationId
      hold('I9', owner === organizationId, () => `${id} of ${owner} in an answer to ${organizationId}`)
    }
    if (member === undefined || member === null) return
    const snapshot = snapshots.get(member.id)?.get(member.rowVersion)
    hold('I4', snapshot !== undefined, () => `${member.id} was never at version ${member.rowVersion}`)
    if (snapshot === undefined) return
    if (member !== snapshot.member) {
      const { patternsClosedForMs: _, ...believed } = member
      const { patternsClosedForMs: __, ...real } = snapshot.member
      hold(
        'belief',
        isDeepStrictEqual(believed, real),
        () => `the answer has ${text(believed)}, stored is ${text(real)}`,
      )
    }
    if (answer.biometricStatus === undefined) return
    saw(answer.biometricStatus)
    const { status, n } = byTheTable(snapshot, answer.at ?? now())
    hold(
      'I6',
      answer.biometricStatus === status,
      () => `the answer says ${member.id} is ${answer.biometricStatus}; it is ${status}`,
    )
    hold(
      'I5',
      answer.nPatternsRef === n,
      () => `the answer says ${member.id} has ${answer.nPatternsRef} references; it has ${n}`,
    )
  }

  function holdAuthentication(request: Request, action: string, authentication: Authentication | null): void {
    const yes = action === 'verified'
    hold('I10', !yes || authentication?.authenticated === true, () => `${action} without an attempt`)
    if (authentication === null) return
    const record = attempts.get(authentication.id)
    hold(
      'I10',
      record?.authenticated === authentication.authenticated,
      () => `${authentication.id} is not recorded with this result`,
    )
    const right = record?.code === request.code
    if (request.code !== undefined && record !== undefined)
      hold(
        'verdict',
        right === authentication.authenticated,
        () => `a code was ${action}; it was ${right ? 'right' : 'wrong'}`,
      )
  }

  /**
   * Each attempt that is not free may hold one reservation and one record. A session that counts more has kept the
   * reservation of a free attempt.
   */
  function holdFree(request: Request, action: string | undefined): void {
    if (action !== 'refused' && action !== 'enroll') return
    const visit = attemptOf(request)
    if (visit === null) return
    const { kind, session, sha256, who } = visit
    free.set(session, (free.get(session) ?? 0) + 1)
    const most = (begun.get(session) ?? 0) - (free.get(session) ?? 0)
    const used = sessions.of(who.organizationId, who.userRef).get(sha256)?.used[kind] ?? 0
    const judged = scored.get(keyOf(who.organizationId, shownSessionId(sha256), kind)) ?? 0
    hold('free', used <= most, () => `a session counts ${used} attempts by ${kind}; ${most} were not free`)
    hold('free', judged <= most, () => `${judged} attempts by ${kind} of a session are recorded; ${most} were not free`)
    saw(`free: ${action}`)
  }

  /** Checks that the call ended the user's older sessions, except the one that it presented. */
  function holdEnded({ who, token, beganAt }: Request, memberRef: string | null): void {
    for (const [sha256, session] of sessions.of(who.organizationId, who.userRef)) {
      const minted = tokens.get(sha256)
      if (minted === undefined || minted.step >= beganAt || (token !== undefined && sha256 === sha256Hex(token)))
        continue
      const its = memberRef === null || session.memberRef === null || session.memberRef === memberRef
      hold('sessions', !its, () => `a session of ${who.userRef} did not end`)
    }
  }

  function holdToken({ who, token, at, kind }: Request): void {
    if (token === undefined || kind === 'bootstrap') return
    const minted = tokens.get(sha256Hex(token))
    const own = minted?.place === keyOf(who.organizationId, who.userRef)
    hold('sessions', own, () => `a session of ${minted?.place} served ${who.organizationId} ${who.userRef}`)
    hold('sessions', minted === undefined || at < minted.at + SESSION_LIFETIME_MS, () => 'an expired session served')
  }

  const linkOf = (request: Request) => {
    for (const link of tables.links.values()) if (link.sha256 === request.link?.sha256) return link
    return null
  }

  return {
    onCommit: (event: Committed) => (onCommit[event.what] as (event: Committed) => void)(event), // by its name
    /** Checks that need no commit and no answer. */
    onStep() {
      hold('I7', tables.links.size === nLinks, () => `${nLinks} links are expected, ${tables.links.size} are stored`)
    },
    /** Checks the whole state. */
    audit() {
      const oldest = sessions.oldest()
      hold('sessions', oldest === null || now() - oldest < SESSION_LIFETIME_MS, () => 'a session does not expire')
      for (const { memberId } of tables.marks.values())
        hold('I4', !erased.has(memberId), () => `a replay mark of ${memberId}, who was erased`)
      for (const { of } of tables.links.values())
        hold(
          'I4',
          !erased.has(of.member.id) && of.archivedAt === null,
          () => `a link of ${of.member.id}, who was removed`,
        )
      for (const [place, list] of tables.authentications)
        for (const { id, accountId } of list)
          hold('I4', tables.accounts.get(place)?.account.id === accountId, () => `attempt ${id} of an erased account`)
    },
    /** Notes the bearer token of a session that a client got. */
    given(token: string, { who }: Request) {
      const sha256 = sha256Hex(token)
      const place = keyOf(who.organizationId, who.userRef)
      const known = tokens.get(sha256)
      hold(
        'sessions',
        known === undefined || known.place === place,
        () => `the session of ${known?.place} for ${place}`,
      )
      const mintedAt = sessions.of(who.organizationId, who.userRef).get(sha256)?.mintedAt ?? now()
      if (known === undefined) tokens.set(sha256, { place, at: mintedAt, step: step() })
    },
    /** A lost session store may forget that an attempt was given back, so earlier attempts are not checked. */
    sessionsLost: () => free.clear(),
    began(request: Request) {
      const visit = attemptOf(request)
      if (visit !== null) begun.set(visit.session, (begun.get(visit.session) ?? 0) + 1)
    },
    answered(request: Request, given: object) {
      holdToken(request)
      const { who, kind } = request
      const answer = given as {
        state?: AnswerPart | null
        members?: readonly AnswerPart[]
        authentication?: Authentication | null
        action?: string
        patternId?: string | null
        enrollment?: { patternId: string | null } | null
        completed?: boolean
      } & AnswerPart
      if (answer.state) holdAnswer(who, answer.state)
      for (const one of answer.members ?? []) holdAnswer(who, { ...answer, ...one })
      if (answer.account !== undefined) holdAnswer(who, answer)
      if (answer.authentication !== undefined) holdAuthentication(request, answer.action ?? '', answer.authentication)
      holdFree(request, answer.action)
      const patternId = answer.patternId ?? answer.enrollment?.patternId ?? null
      hold('I4', patternId === null || stored.has(patternId), () => `${patternId} is in an answer but was never stored`)
      eachText(given, (code) => {
        if (!CODE.test(code)) return
        hold('I11', !shown.has(code) && SHOWS_CODES.includes(kind), () => `${kind} shows a code`)
        hold('I4', codes.has(code), () => 'a code is shown that was never set')
        shown.add(code)
      })
      if (kind === 'choose') hold('I4', codes.has(request.code ?? ''), () => 'a chosen code was never set')
      if (request.ends !== undefined) holdEnded(request, request.ends.memberRef)
      if (kind === 'delete') {
        const { id } = tables.accounts.get(keyOf(who.organizationId, who.userRef))?.account ?? {}
        hold('I4', request.accountId === undefined || id !== request.accountId, () => `${id} was deleted and is stored`)
      }
      if (answer.completed !== true || request.link === undefined) return
      const link = links.get(request.link.id)
      if (link === undefined) return
      link.completions++
      hold('I7', link.completions === 1, () => `link ${request.link?.id} was completed ${link.completions} times`)
      hold(
        'I7',
        link.ended === 'completed',
        () => `link ${request.link?.id} was completed and is ${link.ended ?? 'live'}`,
      )
      const { organizationId, userRef } = who
      const row = tables.members.get(keyOf(organizationId, request.link.memberId))
      if (request.link.kind === 'reset-profile' && row?.of.account.userRef === userRef)
        holdEnded(request, row.member.memberRef)
    },
    refused(request: Request, error: unknown) {
      const refusal = error instanceof Refusal && error.kind !== 'internal'
      hold('bug', refusal, () => `${request.kind}: ${error instanceof Error ? error.stack : String(error)}`)
      if (!(error instanceof Refusal) || error.kind !== 'link-unknown') return
      const link = linkOf(request)
      const known = link === null ? undefined : links.get(link.id)
      if (link === null || known === undefined || link.expiresAt <= now()) return
      const moved = moves.get(keyOf(link.organizationId, link.of.of.account.userRef)) ?? 0
      hold(
        'I7',
        known.madeAt >= request.beganAt || moved >= request.beganAt,
        () => `link ${link.id} is live and was refused`,
      )
    },
  }
}
export type Oracle = ReturnType<typeof createOracle>

const ATTEMPTS: readonly string[] = ['verify', 'verify code', 'legacy verify']

/** The attempt of a call and its session; null if the call makes no attempt or presents no session. */
function attemptOf({ kind: call, who, token, code }: Request) {
  if (token === undefined || !ATTEMPTS.includes(call)) return null
  const kind: AttemptKind = code === undefined ? 'biometric' : 'security_code'
  const sha256 = sha256Hex(token)
  return { who, kind, sha256, session: keyOf(who.organizationId, sha256, kind) }
}

const CODE = /^\d{12}$/
const SHOWS_CODES: readonly string[] = ['create', 'issue']

/** Calls `look` with every text in an answer. */
function eachText(value: unknown, look: (text: string) => void): void {
  if (typeof value === 'string') look(value)
  else if (typeof value === 'object' && value !== null && !(value instanceof Uint8Array))
    for (const key in value) eachText((value as Record<string, unknown>)[key], look)
}

const text = (value: unknown) => JSON.stringify(value)

const historyText = (history: readonly Entry[]) =>
  history.map((entry) => `${entry.at} ${entry.what} ${'kind' in entry ? entry.kind : ''}`).join(', ')

/** The status and the number of references by the table of decisions 5. */
function byTheTable({ member, n, nNext }: Snapshot, now: number): { status: BiometricStatus; n: number } {
  const { targetRefPatterns, fullRefPatterns } = TARGETS
  if (nNext > 0 && member.successor?.owner === 'enrollment') return { status: 'in-progress', n: nNext }
  if (n === 0) return { status: member.everReset ? 'reset' : 'not-ready', n }
  if (n < targetRefPatterns) return { status: 'in-progress', n }
  const goodAt = Math.max(member.completedAt ?? 0, member.lastTypedAt ?? 0)
  if (goodAt > 0 && now - goodAt > YEAR_MS) return { status: 'expired', n }
  return { status: n >= fullRefPatterns ? 'full' : 'ok', n }
}
