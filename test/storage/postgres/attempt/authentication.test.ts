import { randomBytes } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import { afterFailure } from '../../../../src/domain/attempts.js'
import { REPLAY_MEMORY_DAYS } from '../../../../src/domain/replay.js'
import { createUnlock } from '../../../../src/flows/account/unlock.js'
import { postgresAttemptLocks } from '../../../../src/storage/postgres/attempt/attempt-lock.js'
import { postgresAuthentications } from '../../../../src/storage/postgres/attempt/authentication.js'
import { postgresAccounts } from '../../../../src/storage/postgres/person/account.js'
import { attempt, freshBands, mark, NOW, organization, type Person, person } from '../../../harness/fixtures.js'
import { until } from '../../../harness/patience.js'
import { sharedDatabase } from '../../../servers/database.js'

const { database } = await sharedDatabase()
const store = postgresAuthentications(database)
let org: string
let ada: Person

beforeEach(async () => {
  org = await organization(database)
  ada = await person(database, org)
})

const member = async (of: Person) =>
  (await postgresAccounts(database).find(of.organizationId, of.userRef, null))?.member

describe('record', () => {
  it('records one of a hundred verdicts on the same counters', async () => {
    const all = await Promise.all(Array.from({ length: 100 }, () => store.record(org, attempt(ada))))
    expect(all.filter((outcome) => outcome === 'recorded')).toHaveLength(1)
    expect(all.filter((outcome) => outcome === 'conflict')).toHaveLength(99)
    expect((await member(ada))?.attemptsVersion).toBe(1)
    expect(await store.list(org, 'ada', 200)).toHaveLength(1)
  })

  it('records one when two processes race, and never deadlocks', async () => {
    const people = await Promise.all(Array.from({ length: 20 }, (_, i) => person(database, org, `p${i}`)))
    const stores = [postgresAuthentications(database), postgresAuthentications(database)]
    const marks = people.map(() => mark())
    const races = stores.flatMap((one, s) =>
      (s === 0 ? people : [...people].reverse()).map((of, i) =>
        one.record(org, attempt(of, { replayMark: marks[(i * 7) % marks.length] ?? null })),
      ),
    )
    const outcomes = await Promise.all(races)
    for (const outcome of outcomes) expect(['recorded', 'conflict', 'replay']).toContain(outcome)
    expect(outcomes.filter((outcome) => outcome === 'recorded').length).toBeLessThanOrEqual(people.length)
  })

  it('fails one bad attempt without the others of its batch', async () => {
    const people = await Promise.all(Array.from({ length: 5 }, (_, i) => person(database, org, `q${i}`)))
    const [first, ...rest] = people.map((of) => attempt(of))
    if (first === undefined) throw new Error('five people')
    const bad = { ...first, policyId: 'no-uuid' }
    const settled = await Promise.allSettled([bad, ...rest].map((one) => store.record(org, one)))
    expect(settled[0]?.status).toBe('rejected')
    expect(settled.slice(1)).toEqual(rest.map(() => ({ status: 'fulfilled', value: 'recorded' })))
  })
})

describe('the replay index', () => {
  it('detects equal timings, and near ones by a band of the same member or two of another in the organization', async () => {
    const known = mark()
    const [b0 = 0n, b1 = 0n] = known.bands
    expect(await store.record(org, attempt(ada, { replayMark: known }))).toBe('recorded')
    const bo = await person(database, org, 'bo')
    const sharing = (...bands: bigint[]) => mark(randomBytes(16), [...freshBands().slice(bands.length), ...bands])
    const [nearer, near] = [sharing(b1, b0), sharing(b0)]
    expect(await store.record(org, attempt(bo, { replayMark: known }))).toBe('replay')
    expect(await store.record(org, attempt(bo, { replayMark: nearer }))).toBe('replay')
    expect(await member(bo)).toMatchObject({ attemptsVersion: 0 })
    expect(await store.record(org, attempt(ada, { replayMark: near, attemptsVersion: 1 }))).toBe('replay')
    expect(await store.record(org, attempt(bo, { replayMark: near }))).toBe('recorded')
    const other = await organization(database)
    expect(await store.record(other, attempt(await person(database, other), { replayMark: known }))).toBe('recorded')
  })

  it('accepts one of many concurrent equal marks', async () => {
    const known = mark()
    const people = await Promise.all(Array.from({ length: 20 }, (_, i) => person(database, org, `r${i}`)))
    const stores = [postgresAuthentications(database), postgresAuthentications(database)]
    const outcomes = await Promise.all(
      people.map((of, i) => stores[i % 2]?.record(org, attempt(of, { replayMark: known }))),
    )
    expect(outcomes.filter((outcome) => outcome === 'recorded')).toHaveLength(1)
    expect(outcomes.filter((outcome) => outcome === 'replay')).toHaveLength(19)
  })

  it('accepts one of concurrent near marks, and every mark that shares no band', async () => {
    const people = await Promise.all(Array.from({ length: 30 }, (_, i) => person(database, org, `n${i}`)))
    const [b0 = 0n, b1 = 0n] = freshBands()
    const outcomes = await Promise.all(
      people.map((of, i) => {
        const bands = i < 20 ? [b0, b1, ...freshBands().slice(2)] : freshBands()
        return store.record(org, attempt(of, { replayMark: mark(randomBytes(16), bands) }))
      }),
    )
    expect(outcomes.slice(0, 20).sort()).toEqual(['recorded', ...Array.from({ length: 19 }, () => 'replay')])
    expect(outcomes.slice(20)).toEqual(Array.from({ length: 10 }, () => 'recorded'))
  })

  it('accepts one of near marks that arrive while others are being committed', async () => {
    const people = await Promise.all(Array.from({ length: 32 }, (_, i) => person(database, org, `w${i}`)))
    const [b0 = 0n, b1 = 0n] = freshBands()
    const waves: Promise<string>[] = []
    for (let wave = 0; wave < 4; wave++) {
      for (const of of people.slice(8 * wave, 8 * wave + 8)) {
        const bands = [b0, b1, ...freshBands().slice(2)]
        waves.push(store.record(org, attempt(of, { replayMark: mark(randomBytes(16), bands) })))
      }
      // The wave's commit is under way, and the next wave is large enough for its own.
      for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve))
    }
    expect((await Promise.all(waves)).sort()).toEqual(['recorded', ...Array.from({ length: 31 }, () => 'replay')])
  })

  it('forgets marks after the retention', async () => {
    const known = mark()
    await store.record(org, attempt(ada, { replayMark: known }))
    const later = NOW + (REPLAY_MEMORY_DAYS + 1) * 86_400_000
    const again = attempt(ada, { replayMark: known, attemptsVersion: 1 })
    expect(await store.record(org, { ...again, createdAt: later })).toBe('recorded')
    const soon = attempt(ada, { replayMark: known, attemptsVersion: 2 })
    expect(await store.record(org, { ...soon, createdAt: later })).toBe('replay')
  })
})

it('an unlock succeeds while attempts fail, and loses none that fail after it', async () => {
  const locks = postgresAttemptLocks(database)
  const unlocks = createUnlock({ accounts: postgresAccounts(database), attemptLocks: locks })
  let failed = 0
  const failing = async () => {
    for (let n = 0; n < 20; n++) {
      const found = await member(ada)
      if (found == null) throw new Error('ada is stored')
      const counters = afterFailure(found.attempts, 'biometric', NOW)
      const made = attempt(ada, { counters, attemptsVersion: found.attemptsVersion })
      if ((await store.record(org, made)) === 'recorded') failed++
    }
  }
  let forgotten = 0
  const unlocking = async () => {
    // In lockstep every record may be a conflict.
    await until(() => failed > 0)
    const who = { organizationId: org, userRef: 'ada', memberRef: null }
    for (let n = 0; n < 5; n++) forgotten += (await unlocks.unlock(who)).biometric.streak
  }
  await Promise.all([failing(), unlocking()])
  expect(forgotten).toBeGreaterThan(0)
  expect((await member(ada))?.attempts.biometric.streak).toBe(failed - forgotten)
  expect((await member(ada))?.attemptsVersion).toBe(failed + 5)
})
