import type { Account, Member } from '../../domain/account.js'
import { Refusal } from '../../domain/refusal.js'
import { USING_UP } from '../../domain/refused-patterns.js'
import type { Scoring } from '../../scoring/scoring.js'
import type { AccountStore } from '../../storage/account.js'
import type { RefusedPatternStore } from '../../storage/refused-patterns.js'
import type { Vault } from '../../storage/vault.js'
import type { Designation } from '../session/person.js'
import { patternsLimited } from './invalid-patterns.js'

export interface RefusedPatternNeeds {
  readonly accounts: Pick<AccountStore, 'find'>
  readonly refusedPatterns: RefusedPatternStore
  readonly vault: Vault
  readonly scoring: Scoring
  readonly newId: () => string
  readonly now: () => number
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
  who: Designation,
  body: Uint8Array,
  call: Promise<T>,
  outcomeOf: (answer: T) => Outcome,
): Promise<T> {
  const answer = await call.catch(async (error: unknown) => {
    if (error instanceof Refusal && USING_UP.includes(error.kind)) await remember(needs, who, body, null)
    throw error
  })
  const { kept, person } = outcomeOf(answer)
  if (!kept) await remember(needs, who, body, person)
  return answer
}

/** Without a member nothing is remembered: the pattern could not be erased with its person. One scan and one write. */
async function remember(
  needs: RefusedPatternNeeds,
  who: Designation,
  body: Uint8Array,
  found: Person | null,
): Promise<void> {
  const { organizationId } = who
  const person = found ?? (await personOf(needs, who))
  if (person === null || patternsLimited(person.member) !== null) return
  const { account, member } = person
  const replayKey = await needs.vault.replayKey(organizationId)
  const read = await needs.scoring.score({ body, references: [], replayKey })
  if (!read.ok) return
  const { sample, replayMark } = read.reading
  const { id: memberId, generation } = member
  const id = needs.newId()
  const binding = { accountId: account.id, memberId, patternId: id, generation }
  const sealed = await needs.vault.seal(organizationId, binding, sample)
  const pattern = { id, memberId, generation, sealed, replayMark, createdAt: needs.now() }
  await needs.refusedPatterns.remember(organizationId, pattern)
}

/** A nominative account has one member, whatever member_ref the call named. */
async function personOf(
  { accounts }: RefusedPatternNeeds,
  { organizationId, userRef, memberRef }: Designation,
): Promise<Person | null> {
  const named = await accounts.find(organizationId, userRef, memberRef)
  const isForeign = named?.account.type === 'nominative' && named.member === null && memberRef !== null
  const found = isForeign ? await accounts.find(organizationId, userRef, null) : named
  return found?.member == null ? null : { account: found.account, member: found.member }
}
