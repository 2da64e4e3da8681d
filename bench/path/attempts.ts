import { randomBytes } from 'node:crypto'
import { v7 } from 'uuid'
import { afterSuccess } from '../../src/domain/attempts.js'
import type { AttemptRecord, Authentication } from '../../src/storage/authentication.js'
import type { Stores } from '../../src/wiring/stores.js'
import { userRef } from '../ratio/people.js'

/** A copy of a recorded attempt, ready to record: with a new id and a new mark, for the current state of the member. */
export async function attemptLike(
  stores: Stores,
  organizationId: string,
  index: number,
  like: Authentication,
): Promise<AttemptRecord> {
  const found = await stores.accounts.find(organizationId, userRef(index), null)
  const member = found?.member
  if (found === null || !member) throw new Error(`${userRef(index)} is not enrolled`)
  const bands = Array.from({ length: 8 }, () => randomBytes(8).readBigInt64LE())
  return {
    ...like,
    id: v7(),
    createdAt: Date.now(),
    accountId: found.account.id,
    memberId: member.id,
    userRef: userRef(index),
    memberRef: member.memberRef,
    patternId: like.patternId === null ? null : v7(),
    counters: afterSuccess(member.attempts, 'biometric'),
    habits: member.habits,
    attemptsVersion: member.attemptsVersion,
    generation: member.generation,
    rowVersion: member.rowVersion,
    replayMark: { exact: new Uint8Array(randomBytes(16)), bands },
  }
}

/** The newest attempt of a person. */
export async function recorded(stores: Stores, organizationId: string, index: number): Promise<Authentication> {
  const [found] = await stores.authentications.list(organizationId, userRef(index), 1)
  if (found === undefined) throw new Error(`${userRef(index)} has no recorded attempt`)
  return found
}
