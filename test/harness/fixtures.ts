import { createHash, randomBytes } from 'node:crypto'
import { v7 as uuid } from 'uuid'
import { NO_ATTEMPTS } from '../../src/domain/attempts.js'
import { DEFAULT_POLICY } from '../../src/domain/policy.js'
import type { ReplayMark } from '../../src/domain/replay.js'
import type { AttemptRecord, Authentication } from '../../src/storage/authentication.js'
import { createKeyWrap } from '../../src/storage/crypto/key-wrap-aes.js'
import { givenKeys } from '../../src/storage/key-ring.js'
import type { Database } from '../../src/storage/postgres/connection/client.js'
import { postgresOrganizations } from '../../src/storage/postgres/organization/organization.js'
import { postgresAccounts } from '../../src/storage/postgres/person/account.js'
import type { NewReference } from '../../src/storage/profile.js'

export const NOW = Date.UTC(2026, 5, 15, 12, 0, 0, 123)

/** Wraps data keys under the encryption key of the services and flows of tests. */
const keyWrap = createKeyWrap(givenKeys(Buffer.alloc(32, 7), []))

/** Stores an organization. Returns its id. */
export async function organization(database: Database): Promise<string> {
  const id = uuid()
  await postgresOrganizations(database).create({
    id,
    name: 'acme',
    wrapKey: () => keyWrap.wrapNew(id),
    policyId: uuid(),
    policy: DEFAULT_POLICY,
    createdAt: NOW,
  })
  return id
}

export interface Person {
  readonly organizationId: string
  readonly accountId: string
  readonly memberId: string
  readonly userRef: string
}

/** A stored nominative account with its member. */
export async function person(database: Database, organizationId: string, userRef = 'ada'): Promise<Person> {
  const accountId = uuid()
  const memberId = uuid()
  await postgresAccounts(database).create(organizationId, {
    id: accountId,
    userRef,
    type: 'nominative',
    displayName: null,
    member: { id: memberId, memberRef: userRef, displayName: null, createdAt: NOW },
    createdAt: NOW,
  })
  return { organizationId, accountId, memberId, userRef }
}

export const mark = (exact: Uint8Array = randomBytes(16), bands = freshBands()): ReplayMark => ({ exact, bands })
export const freshBands = () => Array.from({ length: 8 }, () => randomBytes(8).readBigInt64LE())

export function reference(memberId: string, replayMark = mark(), generation = 0) {
  return {
    id: uuid(),
    memberId,
    generation,
    mode: 'visible',
    sealed: randomBytes(2000),
    replayMark,
    createdAt: NOW,
  } satisfies NewReference
}

export function attempt(of: Person, changes: Partial<AttemptRecord> = {}): AttemptRecord {
  return {
    id: uuid(),
    createdAt: NOW,
    accountId: of.accountId,
    memberId: of.memberId,
    userRef: of.userRef,
    memberRef: of.userRef,
    accountType: 'nominative',
    sessionId: '0123456789abcdef',
    method: 'biometric',
    authenticated: true,
    recommendedAction: 'auth',
    reason: '',
    confidence: 0.91,
    confidenceBiometrics: 0.925,
    confidenceContext: null,
    policyId: uuid(),
    nPatternsRef: 5,
    nPatternsRefUsed: 5,
    patternId: uuid(),
    sealed: randomBytes(2000),
    facts: null,
    counters: NO_ATTEMPTS,
    habits: null,
    attemptsVersion: 0,
    generation: 0,
    replayMark: mark(),
    ...changes,
  }
}

/** The stored row: the attempt without the member's new state and the checks of its commit. */
export function authenticationOf(attempt: AttemptRecord): Authentication {
  const {
    counters: _,
    habits: __,
    attemptsVersion: ___,
    generation: ____,
    rowVersion: _____,
    replayMark: ______,
    ...row
  } = attempt
  return row
}

export const sha256Hex = () => createHash('sha256').update(randomBytes(32)).digest('hex')
