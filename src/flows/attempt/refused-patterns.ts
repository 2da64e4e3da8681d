import { Refusal } from '../../domain/refusal.js'
import { USING_UP } from '../../domain/refused-patterns.js'
import type { Scoring } from '../../scoring/scoring.js'
import { sketchOf } from '../../scoring/sketch.js'
import type { AccountStore } from '../../storage/account.js'
import type { Authentication } from '../../storage/authentication.js'
import type { RefusedPatternStore } from '../../storage/refused-patterns.js'
import type { SessionStore } from '../../storage/session.js'
import type { Vault } from '../../storage/vault.js'
import { sha256Hex } from '../process/tokens.js'
import type { Designation, Person, Presented } from '../session/person.js'
import type { AttemptInput } from './attempt-context.js'
import { sealedEntry } from './comparison-set.js'
import { patternsLimited } from './invalid-patterns.js'
import { type PatternInput, scoreInput } from './pattern-input.js'

export interface RefusedPatternNeeds {
  readonly accounts: Pick<AccountStore, 'find'>
  readonly refusedPatterns: RefusedPatternStore
  readonly sessions: Pick<SessionStore, 'find'>
  readonly vault: Vault
  readonly scoring: Scoring
  readonly newId: () => string
  readonly now: () => number
}

/** A call that brings a typing pattern or a code. */
interface InputCall {
  readonly who: Designation
  /** Null if the call has no session. */
  readonly token: Presented | null
  readonly input: AttemptInput
}

/** The part of the call's answer that shows whether the pattern was kept. */
interface InputAnswer extends Person {
  /** The attempt with the pattern; null if none was recorded. */
  readonly authentication?: Authentication | null
  /** The reference made of the pattern; null if none was stored. */
  readonly patternId?: string | null
  readonly enrollment?: { readonly patternId: string | null } | null
}

/** Whether the pattern was recorded as an attempt, or stored as a reference. */
const isKept = ({ authentication, patternId, enrollment }: InputAnswer): boolean =>
  (authentication ?? patternId ?? enrollment?.patternId ?? null) !== null

/**
 * Waits for the answer of a call. If the call did not keep its typing pattern, stores the pattern as seen before it gives the
 * answer, so that the pattern cannot be replayed after a failed call. Rejects with the store's Refusal if the pattern cannot be
 * stored. Every call that brings a pattern goes through here. A flow inside another flow does not, because the outer one may
 * verify a pattern that the inner one did not enroll.
 */
export async function rememberingRefused<Answer extends InputAnswer>(
  needs: RefusedPatternNeeds,
  { who, token, input }: InputCall,
  answering: Promise<Answer>,
): Promise<Answer> {
  if (input.kind === 'code') return answering
  const answer = await answering.catch(async (error: unknown) => {
    if (error instanceof Refusal && USING_UP.includes(error.kind))
      await remember(needs, who, input, await personOf(needs, who, token))
    throw error
  })
  if (!isKept(answer)) await remember(needs, who, input, answer)
  return answer
}

/**
 * Stores a pattern as seen. Without a person it stores nothing, because the pattern could not be erased with its person. Costs
 * one write, and one scan if the call has not read the pattern.
 */
async function remember(
  needs: RefusedPatternNeeds,
  { organizationId }: Designation,
  input: PatternInput,
  person: Person | null,
): Promise<void> {
  if (person === null || patternsLimited(person.member) !== null) return
  const { account, member } = person
  if (input.scanned === undefined) {
    const replayKey = await needs.vault.replayKey(organizationId)
    await scoreInput(needs.scoring, input, { references: [], replayKey })
  }
  if (input.scanned == null) return
  const { sample, replayMark } = input.scanned
  const { id: memberId, generation } = member
  const id = needs.newId()
  const binding = { accountId: account.id, memberId, patternId: id, generation }
  const sealed = await needs.vault.seal(organizationId, binding, sample)
  const at = needs.now()
  const refused = { id, at, authenticated: false, sketch: sketchOf(sample) }
  const entry = await sealedEntry(needs, { who: { organizationId }, account, member }, refused)
  const pattern = { id, memberId, generation, sealed, replayMark, createdAt: at, entry }
  await needs.refusedPatterns.remember(organizationId, pattern)
}

/**
 * The person of a call; null if none. A nominative account has one member, whatever `member_ref` the call named. On a shared
 * account the session may name the member.
 */
async function personOf(needs: RefusedPatternNeeds, who: Designation, token: Presented | null): Promise<Person | null> {
  const { organizationId, userRef, memberRef } = who
  let found = await needs.accounts.find(organizationId, userRef, memberRef)
  if (found !== null && found.member === null) {
    const other = found.account.type === 'nominative' ? null : await memberOfSession(needs, who, token)
    if (other !== memberRef) found = await needs.accounts.find(organizationId, userRef, other)
  }
  return found?.member == null ? null : { account: found.account, member: found.member }
}

async function memberOfSession(
  { sessions }: RefusedPatternNeeds,
  { organizationId, userRef, memberRef }: Designation,
  token: Presented | null,
): Promise<string | null> {
  if (memberRef !== null || token === null) return memberRef
  const session = typeof token === 'string' ? await sessions.find(organizationId, userRef, sha256Hex(token)) : token
  return session?.memberRef ?? null
}
