import type { Account, Member } from '../../domain/account.js'
import { Refusal } from '../../domain/refusal.js'
import { USING_UP } from '../../domain/refused-patterns.js'
import type { Scoring } from '../../scoring/scoring.js'
import type { AccountStore } from '../../storage/account.js'
import type { RefusedPatternStore } from '../../storage/refused-patterns.js'
import type { SessionStore } from '../../storage/session.js'
import type { Vault } from '../../storage/vault.js'
import { sha256Hex } from '../process/tokens.js'
import type { Designation, Presented } from '../session/person.js'
import { patternsLimited } from './invalid-patterns.js'

export interface RefusedPatternNeeds {
  readonly accounts: Pick<AccountStore, 'find'>
  readonly refusedPatterns: RefusedPatternStore
  readonly sessions: Pick<SessionStore, 'find'>
  readonly vault: Vault
  readonly scoring: Scoring
  readonly newId: () => string
  readonly now: () => number
}

/** A call that brought a typing pattern. */
interface PatternCall {
  readonly who: Designation
  /** Null: without a session. */
  readonly token: Presented | null
  readonly body: Uint8Array
}

/** The result of a call that brought a typing pattern. */
interface Outcome {
  /** The pattern was recorded as an attempt, or stored as a reference. */
  readonly kept: boolean
  /** The pattern's member, if the call found one. */
  readonly person: Person | null
}

interface Person {
  readonly account: Account
  readonly member: Member
}

/**
 * Waits for a call that brought a typing pattern. If its final answer did not keep the pattern, remembers the pattern as
 * seen before that answer is given, so that a call that fails first buys no replay. If the pattern cannot be remembered,
 * rejects with the store's Refusal.
 */
export async function rememberingRefused<T>(
  needs: RefusedPatternNeeds,
  { who, token, body }: PatternCall,
  call: Promise<T>,
  outcomeOf: (answer: T) => Outcome,
): Promise<T> {
  const answer = await call.catch(async (error: unknown) => {
    if (error instanceof Refusal && USING_UP.includes(error.kind))
      await remember(needs, who, body, () => personOf(needs, who, token))
    throw error
  })
  const { kept, person } = outcomeOf(answer)
  if (!kept) await remember(needs, who, body, async () => person ?? (await personOf(needs, who, token)))
  return answer
}

/** Without a member nothing is remembered: the pattern could not be erased with its person. One scan and one write. */
async function remember(
  needs: RefusedPatternNeeds,
  who: Designation,
  body: Uint8Array,
  find: () => Promise<Person | null>,
): Promise<void> {
  const { organizationId } = who
  const person = await find()
  if (person === null || patternsLimited(person.member) !== null) return
  const { account, member } = person
  const replayKey = await needs.vault.replayKey(organizationId)
  const read = await needs.scoring.score({ body, references: [], replayKey })
  const reading = read.ok ? read.reading : read.touched
  if (reading === undefined) return
  const { sample, replayMark } = reading
  const { id: memberId, generation } = member
  const id = needs.newId()
  const binding = { accountId: account.id, memberId, patternId: id, generation }
  const sealed = await needs.vault.seal(organizationId, binding, sample)
  const pattern = { id, memberId, generation, sealed, replayMark, createdAt: needs.now() }
  await needs.refusedPatterns.remember(organizationId, pattern)
}

/** A nominative account has one member, whatever member_ref the call named. On a shared account the session may name the member. */
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
