import { randomBytes } from 'node:crypto'
import { v7 as uuid } from 'uuid'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { afterFailure, NO_ATTEMPTS } from '../../../../src/domain/attempts.js'
import { REPLAY_MEMORY_DAYS } from '../../../../src/domain/replay.js'
import type { AttemptRecord, AuthenticationStore } from '../../../../src/storage/authentication.js'
import { postgresAuthentications } from '../../../../src/storage/postgres/attempt/authentication.js'
import { connectPostgres, type Database } from '../../../../src/storage/postgres/connection/client.js'
import { postgresAccounts } from '../../../../src/storage/postgres/person/account.js'
import { postgresProfiles } from '../../../../src/storage/postgres/person/profile.js'
import { until } from '../../../patience.js'
import { type FreshDatabase, freshDatabase } from '../../../servers/database.js'
import {
  attempt,
  authenticationOf,
  freshBands,
  mark,
  NOW,
  organization,
  type Person,
  person,
  reference,
} from '../../fixtures.js'

let fresh: FreshDatabase
let database: Database
let store: AuthenticationStore
let org: string
let ada: Person

beforeAll(async () => {
  fresh = await freshDatabase()
  database = connectPostgres({ url: fresh.url, max: 4, patience: 10 })
})
afterAll(async () => {
  await database.close()
  await fresh.drop()
})
beforeEach(async () => {
  store = postgresAuthentications(database)
  org = await organization(database)
  ada = await person(database, org)
})

const member = async (of: Person) =>
  (await postgresAccounts(database).find(of.organizationId, of.userRef, null))?.member

describe('a session', () => {
  it('has the time of the member’s last sign-in by typing in it, and of nothing else', async () => {
    const bo = await person(database, org, 'bo')
    const made = (of: Person, changes: Partial<AttemptRecord>, attemptsVersion: number) =>
      store.record(org, attempt(of, { ...changes, attemptsVersion }))
    const session = {
      userRef: 'ada',
      memberId: ada.memberId,
      sessionId: '0123456789abcdef',
      since: Date.now() - 60_000,
    }
    expect(await store.typedInSession(org, session)).toBeNull()
    await made(ada, { authenticated: false }, 0)
    await made(ada, { method: 'security_code', patternId: null, sealed: null, replayMark: null }, 1)
    await made(ada, { sessionId: 'fedcba9876543210' }, 2)
    await made(bo, {}, 0)
    expect(await store.typedInSession(org, session)).toBeNull()
    await made(ada, { createdAt: NOW + 1 }, 3)
    await made(ada, { createdAt: NOW + 2 }, 4)
    expect(await store.typedInSession(org, session)).toBe(NOW + 2)
    expect(await store.typedInSession(org, { ...session, memberId: bo.memberId })).toBeNull()
    expect(await store.typedInSession(org, { ...session, since: Date.now() + 60_000 })).toBeNull()
    expect(await store.typedInSession(await organization(database), session)).toBeNull()
  })
})

describe('record', () => {
  it('writes the attempt with its counters and success', async () => {
    const counters = afterFailure(NO_ATTEMPTS, 'security_code', NOW)
    const one = attempt(ada, { counters })
    expect(await store.record(org, one)).toBe('recorded')
    expect(await store.find(org, one.id)).toEqual(authenticationOf(one))
    expect(await member(ada)).toMatchObject({ attempts: counters, attemptsVersion: 1, lastSuccessAt: NOW })
  })

  it('keeps the last success if the attempt failed, and stores null without a pattern', async () => {
    const failed = attempt(ada, {
      authenticated: false,
      patternId: null,
      sealed: null,
      replayMark: null,
      confidenceContext: 0.25,
    })
    expect(await store.record(org, failed)).toBe('recorded')
    expect((await member(ada))?.lastSuccessAt).toBeNull()
    expect(await store.find(org, failed.id)).toEqual(authenticationOf(failed))
  })

  it('changes nothing if counters or profile have another version', async () => {
    const stale = attempt(ada, { attemptsVersion: 7 })
    expect(await store.record(org, stale)).toBe('conflict')
    expect(await store.record(org, attempt(ada, { generation: 1 }))).toBe('conflict')
    expect(await store.find(org, stale.id)).toBeNull()
    expect(await store.record(org, attempt(ada, { replayMark: stale.replayMark }))).toBe('recorded')
  })

  it('reports an absent member, or one of another organization', async () => {
    expect(await store.record(org, attempt({ ...ada, memberId: uuid() }))).toBe('absent')
    expect(await store.record(await organization(database), attempt(ada))).toBe('absent')
  })

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

  it('lists the newest first', async () => {
    const ids: string[] = []
    for (let version = 0; version < 3; version += 1) {
      const one = attempt(ada, { attemptsVersion: version })
      ids.unshift(one.id)
      await store.record(org, one)
    }
    expect((await store.list(org, 'ada', 2)).map(({ id }) => id)).toEqual(ids.slice(0, 2))
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

  it('ignores other organizations', async () => {
    const known = mark()
    await store.record(org, attempt(ada, { replayMark: known }))
    const other = await organization(database)
    const stranger = await person(database, other)
    expect(await store.record(other, attempt(stranger, { replayMark: known }))).toBe('recorded')
  })

  it('is shared by enrollments and verdicts', async () => {
    const profiles = postgresProfiles(database)
    const rules = { target: 5, limit: 10, rejectReplay: true }
    const first = reference(ada.memberId)
    expect(await profiles.add(org, first, rules)).toMatchObject({ outcome: 'added' })
    expect(await store.record(org, attempt(ada, { replayMark: first.replayMark }))).toBe('replay')
    expect(await profiles.add(org, reference(ada.memberId, first.replayMark), rules)).toEqual({ outcome: 'replay' })
    const lenient = { ...rules, rejectReplay: false }
    expect(await profiles.add(org, reference(ada.memberId, first.replayMark), lenient)).toMatchObject({
      outcome: 'added',
    })
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

  // Regression: each attempt read every mark of the organization, by a plan from when the table was empty.
  it('is searched by the index on its bands, for any number of marks', async () => {
    const attempts = 300
    for (let n = 0; n < attempts; n++) {
      expect(await store.record(org, attempt(ada, { attemptsVersion: n, replayMark: mark() }))).toBe('recorded')
    }
    const reads = () =>
      database.call(async (sql) => {
        const [row] = await sql<{ bands: number; others: number }[]>`
          select (select idx_scan::int from pg_stat_user_indexes where indexrelname = 'replay_mark_bands') as bands,
            (select sum(idx_tup_read)::int from pg_stat_user_indexes
              where relname = 'replay_mark' and indexrelname <> 'replay_mark_bands')
            + (select seq_tup_read::int from pg_stat_user_tables where relname = 'replay_mark') as others`
        return row ?? { bands: 0, others: 0 }
      })
    await until(async () => (await reads()).bands >= attempts)
    expect((await reads()).others).toBeLessThan(attempts * 5)
  })
})
