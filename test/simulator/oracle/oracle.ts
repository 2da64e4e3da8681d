import { FAILURES_PER_DAY } from '../../../src/domain/attempts.js'
import { Refusal } from '../../../src/domain/refusal.js'
import type { Authentication } from '../../../src/storage/authentication.js'
import type { Request } from '../request.js'
import { policyOf } from '../service.js'
import { type Committed, keyOf } from '../stores/tables.js'
import { textOf } from '../typists.js'
import type { Hold, OracleNeeds } from './checks.js'
import { createLinkChecks } from './link-checks.js'
import { createLockHistories } from './lock-histories.js'
import { type AnswerPart, createMemberChecks } from './member-checks.js'
import { createSessionChecks } from './session-checks.js'

interface Answer extends AnswerPart {
  readonly state?: AnswerPart | null
  readonly members?: readonly AnswerPart[]
  readonly authentication?: Authentication | null
  readonly action?: string
  readonly patternId?: string | null
  readonly enrollment?: { readonly patternId: string | null } | null
  readonly completed?: boolean
}

/**
 * Checks commits and answers against the invariants. Its knowledge comes from commits and answers alone, never from the
 * counters that it checks.
 */
export function createOracle(needs: OracleNeeds) {
  const { tables, now, saw } = needs
  const hold: Hold = (invariant, holds, found) => {
    if (!holds) needs.violated({ invariant, found: found() })
  }
  const locks = createLockHistories(now)
  const sessions = createSessionChecks(needs, hold)
  const links = createLinkChecks(needs, hold)
  const members = createMemberChecks(needs, hold)
  const attempts = new Map<string, { readonly authenticated: boolean; readonly code: string | null }>()
  const stored = new Set<string>()
  const codes = new Set<string>()
  const shown = new Set<string>()
  const typed = new Set<string>()

  const onCommit: { [What in Committed['what']]: (event: Extract<Committed, { what: What }>) => void } = {
    created({ row }) {
      members.created(row)
      locks.takeOn(row)
    },
    returned: ({ row }) => locks.returned(row),
    erased({ row }) {
      members.erased(row)
      locks.leave(row, row.member.memberRef)
    },
    renamed({ row, from }) {
      locks.leave(row, from)
      locks.takeOn(row)
    },
    member: ({ row }) => members.holdRow(row),
    moved: ({ row }) => links.moved(row),
    stored({ row, reference }) {
      stored.add(reference.id)
      const bound = needs.boundTo(reference.sealed)
      hold(
        'I9',
        bound?.organizationId === row.organizationId && bound.memberId === row.member.id,
        () => `a reference of ${row.member.id} is sealed for ${JSON.stringify(bound)}`,
      )
    },
    reset: ({ row }) => locks.note(row, { at: now(), what: 'reset' }),
    unlock: ({ row }) => locks.note(row, { at: now(), what: 'unlock' }),
    lock: ({ row }) => locks.note(row, { at: now(), what: 'lock' }),
    'new code'({ row }) {
      locks.note(row, { at: now(), what: 'new code' })
      codes.add(needs.codeOf(row.codeHash) ?? '')
    },
    attempt: (event) => holdAttempt(event),
    'link-made': ({ link }) => links.made(link),
    'link-ended': ({ link, how }) => links.ended(link, how),
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
    const n = sessions.recorded(organizationId, sessionId, method)
    hold('I1', n <= budget, () => `${n} attempts by ${method} in session ${sessionId}; the budget is ${budget}`)

    const closedBy = locks.closedBy(row, method, createdAt)
    hold(authenticated ? 'I3' : 'I2', closedBy === null, () => `attempt ${id} by ${method} after ${closedBy}`)
    locks.note(row, { at: createdAt, what: authenticated ? 'success' : 'failure', kind: method })
    const { streak, recentFailures } = row.member.attempts[method]
    if (!authenticated) saw(`${method}: ${streak} in a row`)
    if (recentFailures.length === FAILURES_PER_DAY) saw(`${method}: ${FAILURES_PER_DAY} in a day`)

    const { set, temporary, used, expiresAt } = before.code
    const usable = set && (!temporary || (!used && expiresAt !== null && createdAt < expiresAt))
    if (method === 'security_code') hold('I11', usable, () => `attempt ${id} with a code that is used or expired`)
    if (facts === null) return
    holdWords(attempt, row.of.account.userRef, organizationId)
    const there = row.references
      .filter((one) => one.kind === 'enrolled' && one.generation === row.member.generation)
      .map((one) => one.id)
      .join()
    const judgedOn = facts.references.join()
    hold('verdict', judgedOn === there, () => `attempt ${id} was judged on ${judgedOn}, stored are ${there}`)
  }

  /** The words of a session are known by their place in what it has issued: it may issue the same ones again, at another place. */
  function holdWords({ sessionId, facts, sealed }: Authentication, userRef: string, organizationId: string): void {
    if (facts?.typedWords !== 'issued' || sealed === null) return
    saw('words: issued')
    for (const [sha256, { words }] of needs.sessions.of(organizationId, userRef)) {
      if (words === null || !sha256.startsWith(sessionId)) continue
      const place = words.issued.split('|').findIndex((one) => one.replaceAll(' ', '') === textOf(sealed))
      const name = `${sha256} ${words.issued} ${place}`
      hold('words', place < 0 || !typed.has(name), () => `session ${sessionId} judges the same words twice`)
      typed.add(name)
    }
  }

  function holdAuthentication(request: Request, action: string, authentication: Authentication | null): void {
    const yes = action === 'verified'
    hold('I10', !yes || authentication?.authenticated === true, () => `${action} without an attempt`)
    if (authentication === null) return
    const { id, authenticated } = authentication
    const record = attempts.get(id)
    hold('I10', record?.authenticated === authenticated, () => `${id} is not recorded with this result`)
    if (request.code === undefined || record === undefined) return
    const right = record.code === request.code
    hold('verdict', right === authenticated, () => `a code was ${action}; it was ${right ? 'right' : 'wrong'}`)
  }

  /** Checks the codes in an answer. */
  function holdCodes({ kind, code: chosen }: Request, answer: object): void {
    eachText(answer, (code) => {
      if (!CODE.test(code)) return
      hold('I11', !shown.has(code) && SHOWS_CODES.includes(kind), () => `${kind} shows a code`)
      hold('I4', codes.has(code), () => 'a code is shown that was never set')
      shown.add(code)
    })
    if (kind === 'choose') hold('I4', codes.has(chosen ?? ''), () => 'a chosen code was never set')
  }

  function holdDeleted({ who, accountId }: Request): void {
    const { id } = tables.accounts.get(keyOf(who.organizationId, who.userRef))?.account ?? {}
    hold('I4', accountId === undefined || id !== accountId, () => `${id} was deleted and is stored`)
  }

  /** Checks a completed link, and the end of the sessions of a profile that it reset. */
  function holdCompleted(request: Request): void {
    const { who, link } = request
    if (link === undefined || !links.completed(link)) return
    const row = tables.members.get(keyOf(who.organizationId, link.memberId))
    if (link.kind === 'reset-profile' && row?.of.account.userRef === who.userRef)
      sessions.holdEnded(request, row.member.memberRef)
  }

  return {
    onCommit: (event: Committed) => (onCommit[event.what] as (event: Committed) => void)(event), // Sound: the method has the name of the event.
    /** Checks that need no commit and no answer. */
    onStep: links.holdCount,
    /** Checks the whole state. */
    audit() {
      sessions.audit()
      members.audit()
    },
    given: sessions.given,
    sessionsLost: sessions.lost,
    began: sessions.began,
    answered(request: Request, given: object) {
      sessions.holdToken(request)
      const { kind } = request
      const answer = given as Answer
      if (answer.state) members.holdAnswer(request, answer.state)
      for (const one of answer.members ?? []) members.holdAnswer(request, { ...answer, ...one })
      if (answer.account !== undefined) members.holdAnswer(request, answer)
      if (answer.authentication !== undefined) holdAuthentication(request, answer.action ?? '', answer.authentication)
      sessions.holdFree(request, answer.action)
      const patternId = answer.patternId ?? answer.enrollment?.patternId ?? null
      hold('I4', patternId === null || stored.has(patternId), () => `${patternId} is in an answer but was never stored`)
      holdCodes(request, given)
      if (request.ends !== undefined) sessions.holdEnded(request, request.ends.memberRef)
      if (kind === 'delete') holdDeleted(request)
      if (answer.completed === true) holdCompleted(request)
    },
    refused(request: Request, error: unknown) {
      const refusal = error instanceof Refusal && error.kind !== 'internal'
      hold('bug', refusal, () => `${request.kind}: ${error instanceof Error ? error.stack : String(error)}`)
      if (error instanceof Refusal && error.kind === 'link-unknown') links.refused(request)
    },
  }
}
export type Oracle = ReturnType<typeof createOracle>

const CODE = /^\d{12}$/
const SHOWS_CODES: readonly string[] = ['create', 'issue']

/** Calls `look` with every text in an answer. */
function eachText(value: unknown, look: (text: string) => void): void {
  if (typeof value === 'string') look(value)
  else if (typeof value === 'object' && value !== null && !(value instanceof Uint8Array))
    for (const key in value) eachText((value as Record<string, unknown>)[key], look)
}
