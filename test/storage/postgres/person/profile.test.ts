import { v7 as uuid } from 'uuid'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { afterFailure, NO_ATTEMPTS } from '../../../../src/domain/attempts.js'
import { postgresAuthentications } from '../../../../src/storage/postgres/attempt/authentication.js'
import { postgresSessions } from '../../../../src/storage/postgres/attempt/session.js'
import { connectPostgres, type Database } from '../../../../src/storage/postgres/connection/client.js'
import { postgresAccounts } from '../../../../src/storage/postgres/person/account.js'
import { postgresProfiles } from '../../../../src/storage/postgres/person/profile.js'
import type { ProfileStore } from '../../../../src/storage/profile.js'
import { type FreshDatabase, freshDatabase } from '../../../servers/database.js'
import { attempt, NOW, organization, type Person, person, reference, sha256Hex } from '../../fixtures.js'

const RULES = { target: 2, limit: 3, rejectReplay: true }
let fresh: FreshDatabase
let database: Database
let store: ProfileStore
let org: string
let ada: Person

beforeAll(async () => {
  fresh = await freshDatabase()
  database = connectPostgres({ url: fresh.url, max: 4, patience: 10 })
  store = postgresProfiles(database)
})
afterAll(async () => {
  await database.close()
  await fresh.drop()
})
beforeEach(async () => {
  org = await organization(database)
  ada = await person(database, org)
})

describe('add', () => {
  it('counts what it stores and completes the profile at the target', async () => {
    const first = reference(ada.memberId)
    expect(await store.add(org, first, RULES)).toMatchObject({
      outcome: 'added',
      member: { nPatternsRef: 1, nVisible: 1, nSensitive: 0, completedAt: null },
    })
    const second = { ...reference(ada.memberId), mode: 'sensitive' as const, createdAt: NOW + 1 }
    expect(await store.add(org, second, RULES)).toMatchObject({
      member: { nPatternsRef: 2, nSensitive: 1, completedAt: NOW + 1 },
    })
    const stored = await store.references(org, ada.memberId)
    expect(stored.map(({ id }) => id)).toEqual([first.id, second.id])
    expect(Buffer.from(stored[0]?.sealed ?? []).equals(first.sealed)).toBe(true)
  })

  it('respects the limit in concurrent calls', async () => {
    const all = await Promise.all(Array.from({ length: 20 }, () => store.add(org, reference(ada.memberId), RULES)))
    expect(all.filter(({ outcome }) => outcome === 'added')).toHaveLength(3)
    expect(all.filter(({ outcome }) => outcome === 'closed')).toHaveLength(17)
    expect(await store.references(org, ada.memberId)).toHaveLength(3)
  })

  it('stores nothing for another generation, an absent member, or in another organization', async () => {
    expect(await store.add(org, reference(ada.memberId, undefined, 1), RULES)).toMatchObject({ outcome: 'closed' })
    expect(await store.add(org, reference(uuid()), RULES)).toEqual({ outcome: 'absent' })
    expect(await store.add(await organization(database), reference(ada.memberId), RULES)).toEqual({ outcome: 'absent' })
  })
})

describe('reset', () => {
  it('empties the profile and clears the typing counters only', async () => {
    await store.add(org, reference(ada.memberId), RULES)
    const counters = afterFailure(afterFailure(NO_ATTEMPTS, 'biometric', NOW), 'security_code', NOW)
    await postgresAuthentications(database).record(org, attempt(ada, { counters }))
    expect(await store.reset(org, ada.memberId, NOW)).toMatchObject({
      nPatternsDeleted: 1,
      member: {
        generation: 1,
        nPatternsRef: 0,
        everReset: true,
        completedAt: null,
        attemptsVersion: 2,
        attempts: { biometric: NO_ATTEMPTS.biometric, security_code: counters.security_code },
      },
    })
    expect(await store.references(org, ada.memberId)).toEqual([])
    expect(await store.reset(org, uuid(), NOW)).toBeNull()
  })
})

describe('accounts', () => {
  it('are created once in concurrent calls', async () => {
    const accounts = postgresAccounts(database)
    const all = await Promise.all(
      Array.from({ length: 10 }, () =>
        accounts.create(org, {
          id: uuid(),
          userRef: 'new',
          type: 'nominative',
          displayName: null,
          member: { id: uuid(), memberRef: 'new', displayName: 'New', createdAt: NOW },
          createdAt: NOW,
        }),
      ),
    )
    expect(all.filter(({ created }) => created)).toHaveLength(1)
    expect(new Set(all.map(({ account }) => account.id)).size).toBe(1)
    expect(all[0]?.member).toMatchObject({ memberRef: 'new', attempts: NO_ATTEMPTS, createdAt: NOW })
  })

  it('have the requested member', async () => {
    const accounts = postgresAccounts(database)
    expect(await accounts.find(org, 'nobody', null)).toBeNull()
    expect((await accounts.find(org, 'ada', null))?.member?.id).toBe(ada.memberId)
    expect((await accounts.find(org, 'ada', 'bo'))?.member).toBeNull()
    await accounts.create(org, {
      id: uuid(),
      userRef: 'desk',
      type: 'generic',
      displayName: null,
      member: { id: uuid(), memberRef: 'bo', displayName: null, createdAt: NOW },
      createdAt: NOW,
    })
    expect((await accounts.find(org, 'desk', null))?.member).toBeNull()
    expect((await accounts.find(org, 'desk', 'bo'))?.member?.memberRef).toBe('bo')
  })

  it('leave no row when removed', async () => {
    const accounts = postgresAccounts(database)
    for (let i = 0; i < 3; i += 1) await store.add(org, reference(ada.memberId), RULES)
    await postgresAuthentications(database).record(org, attempt(ada))
    const session = { sha256: sha256Hex(), userRef: 'ada', memberRef: 'ada', lifetimeMs: 900_000 }
    await postgresSessions(database).mint(org, session)
    expect(await accounts.remove(org, 'ada')).toEqual({ nPatternsDeleted: 3 })
    expect(await accounts.remove(org, 'ada')).toBeNull()
    const left = await database.asSystem(
      (sql) => sql`
        select table_name as name, (xpath('/row/n/text()', query_to_xml(format(
          'select count(*) as n from keystride.%I t where t::text like %L or t::text like %L or t::text like %L',
          table_name, '%' || ${ada.memberId}::text || '%', '%' || ${ada.accountId}::text || '%',
          '%' || ${org}::text || '%,ada,%'), false, true, '')))[1]::text as n
        from information_schema.tables where table_schema = 'keystride' and table_name not like 'authentication\\_%'`,
    )
    expect(left.length).toBeGreaterThan(7)
    expect(left.filter(({ n }) => n !== '0')).toEqual([])
  })
})
