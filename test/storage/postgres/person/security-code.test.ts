import { v7 as uuid } from 'uuid'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { afterFailure, NO_ATTEMPTS } from '../../../../src/domain/attempts.js'
import { postgresAuthentications } from '../../../../src/storage/postgres/attempt/authentication.js'
import { connectPostgres, type Database } from '../../../../src/storage/postgres/connection/client.js'
import { postgresAccounts } from '../../../../src/storage/postgres/person/account.js'
import { postgresSecurityCodes } from '../../../../src/storage/postgres/person/security-code.js'
import type { NewCode, SecurityCodeStore } from '../../../../src/storage/security-code.js'
import { type FreshDatabase, freshDatabase } from '../../../servers/database.js'
import { attempt, NOW, organization, type Person, person } from '../../fixtures.js'

let fresh: FreshDatabase
let database: Database
let store: SecurityCodeStore
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
  store = postgresSecurityCodes(database)
  org = await organization(database)
  ada = await person(database, org)
})

const chosen = (hash: string): NewCode => ({ hash, expiresAt: null, issued: [], setAt: NOW })
const temporary = (hash: string): NewCode => ({ hash, expiresAt: NOW + 1000, issued: [NOW], setAt: NOW })
const member = async () => (await postgresAccounts(database).find(org, ada.userRef, null))?.member
const record = (changes: Parameters<typeof attempt>[1]) =>
  postgresAuthentications(database).record(org, attempt(ada, { replayMark: null, ...changes }))
const codeAttempt = (authenticated: boolean) => ({
  method: 'security_code' as const,
  authenticated,
  patternId: null,
  sealed: null,
})

describe('set', () => {
  it('stores the hash, and puts the public part on the member', async () => {
    expect(await store.find(org, ada.memberId)).toEqual({ hash: null, previousHash: null, issued: [], version: 0 })
    const { member: after } = (await store.set(org, ada.memberId, 0, temporary('a'))) as { member: unknown }
    expect(after).toEqual(await member())
    expect((await member())?.code).toEqual({
      set: true,
      temporary: true,
      expiresAt: NOW + 1000,
      used: false,
      version: 1,
    })
    expect(await store.find(org, ada.memberId)).toEqual({ hash: 'a', previousHash: null, issued: [NOW], version: 1 })
  })

  it('makes the replaced code the previous one, also after a clear', async () => {
    await store.set(org, ada.memberId, 0, chosen('a'))
    await store.set(org, ada.memberId, 1, chosen('b'))
    expect(await store.find(org, ada.memberId)).toMatchObject({ hash: 'b', previousHash: 'a', version: 2 })
    expect((await store.clear(org, ada.memberId))?.code).toMatchObject({ set: false, version: 3 })
    await store.clear(org, ada.memberId)
    expect(await store.find(org, ada.memberId)).toMatchObject({ hash: null, previousHash: 'b', version: 4 })
  })

  it('sets no code for a member who was removed from a shared account', async () => {
    const accounts = postgresAccounts(database)
    const bo = { id: uuid(), memberRef: 'bo', displayName: null, createdAt: NOW }
    const desk = {
      id: uuid(),
      userRef: 'desk',
      type: 'generic',
      displayName: null,
      member: bo,
      createdAt: NOW,
    } as const
    await accounts.create(org, desk)
    await accounts.archiveMember(org, 'desk', 'bo', NOW)
    // Regression: a call that had found the member earlier set the code on the archived row.
    expect(await store.find(org, bo.id)).toBeNull()
    for (const version of [0, 1])
      expect(await store.set(org, bo.id, version, chosen('a'))).toEqual({ outcome: 'conflict' })
    expect(await store.clear(org, bo.id)).toBeNull()
    const move = { kind: 'add', memberRef: 'bo' } as const
    await accounts.change(org, 'desk', () => ({ settings: {}, move, newMember: { ...bo, id: uuid() } }))
    expect((await accounts.find(org, 'desk', 'bo'))?.member).toMatchObject({ id: bo.id, code: { set: false } })
  })

  it('accepts one of two concurrent changes', async () => {
    const all = await Promise.all(['a', 'b', 'c'].map((hash) => store.set(org, ada.memberId, 0, chosen(hash))))
    expect(all.map(({ outcome }) => outcome).sort()).toEqual(['changed', 'conflict', 'conflict'])
  })

  it('enables a disabled code, and keeps every other counter', async () => {
    let counters = afterFailure(NO_ATTEMPTS, 'biometric', NOW)
    for (let i = 0; i < 10; i++) counters = afterFailure(counters, 'security_code', NOW + i)
    expect(counters.security_code.off).toBe(true)
    await record({ ...codeAttempt(false), counters })
    expect((await store.clear(org, ada.memberId))?.attempts).toEqual(counters)
    await store.set(org, ada.memberId, 1, chosen('a'))
    const revived = { ...counters, security_code: { ...counters.security_code, off: false } }
    expect((await member())?.attempts).toEqual(revived)
  })

  it('makes an attempt that was decided earlier a conflict', async () => {
    await store.set(org, ada.memberId, 0, chosen('a'))
    expect(await record({ attemptsVersion: 0 })).toBe('conflict')
    await store.clear(org, ada.memberId)
    expect(await record({ attemptsVersion: 1 })).toBe('conflict')
    expect(await record({ attemptsVersion: 2 })).toBe('recorded')
  })

  it('finds no member of another organization', async () => {
    const foreign = await organization(database)
    expect(await store.find(foreign, ada.memberId)).toBeNull()
    expect(await store.set(foreign, ada.memberId, 0, chosen('a'))).toEqual({ outcome: 'conflict' })
    expect(await store.clear(foreign, ada.memberId)).toBeNull()
  })
})

describe('a temporary code', () => {
  it('is used up only by the commit of its success', async () => {
    await store.set(org, ada.memberId, 0, temporary('a'))
    await record({ attemptsVersion: 1, ...codeAttempt(false) })
    await record({ attemptsVersion: 2 })
    expect((await member())?.code.used).toBe(false)
    expect(await record({ attemptsVersion: 3, ...codeAttempt(true) })).toBe('recorded')
    expect((await member())?.code.used).toBe(true)
    await store.set(org, ada.memberId, 1, temporary('b'))
    expect((await member())?.code.used).toBe(false)
  })

  it('is used up, unlike a chosen code, which signs in repeatedly', async () => {
    await store.set(org, ada.memberId, 0, chosen('a'))
    expect(await record({ attemptsVersion: 1, ...codeAttempt(true) })).toBe('recorded')
    expect((await member())?.code).toMatchObject({ set: true, used: false })
  })

  it('is used up in a partition of a month as well as in the default one', async () => {
    await database.asSystem((sql) => sql`select keystride.ensure_partitions(1)`)
    await store.set(org, ada.memberId, 0, temporary('a'))
    await record({ attemptsVersion: 1, ...codeAttempt(true) })
    const [row] = await database.asSystem(
      (sql) => sql`select tableoid::regclass::text as place from keystride.authentication`,
    )
    expect(row?.place).toMatch(/authentication_\d{4}_\d\d/)
    expect((await member())?.code.used).toBe(true)
  })
})
