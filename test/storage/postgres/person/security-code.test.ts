import { v7 as uuid } from 'uuid'
import { expect, it } from 'vitest'
import { postgresAccounts } from '../../../../src/storage/postgres/person/account.js'
import { postgresSecurityCodes } from '../../../../src/storage/postgres/person/security-code.js'
import type { NewCode } from '../../../../src/storage/security-code.js'
import { NOW, organization, person } from '../../../harness/fixtures.js'
import { sharedDatabase } from '../../../servers/database.js'

/** Concurrent calls. `test/simulator/stores.test.ts` compares single calls with the stores in memory. */
const { database } = await sharedDatabase()
const store = postgresSecurityCodes(database)
const chosen = (hash: string): NewCode => ({ hash, expiresAt: null, issued: [], setAt: NOW })

it('a code is set by one of concurrent changes', async () => {
  const org = await organization(database)
  const { memberId } = await person(database, org)
  const all = await Promise.all(['a', 'b', 'c'].map((hash) => store.set(org, memberId, 0, chosen(hash))))
  expect(all.map(({ outcome }) => outcome).sort()).toEqual(['changed', 'conflict', 'conflict'])
})

// Regression: a call that had found the member earlier set the code on the archived row.
it('no code is set for a member who was removed from a shared account', async () => {
  const org = await organization(database)
  const accounts = postgresAccounts(database)
  const bo = { id: uuid(), memberRef: 'bo', displayName: null, createdAt: NOW }
  const desk = { id: uuid(), userRef: 'desk', type: 'generic', displayName: null, member: bo, createdAt: NOW } as const
  await accounts.create(org, desk)
  await accounts.archiveMember(org, 'desk', 'bo', NOW)
  expect(await store.find(org, bo.id)).toBeNull()
  for (const version of [0, 1])
    expect(await store.set(org, bo.id, version, chosen('a'))).toEqual({ outcome: 'conflict' })
  expect(await store.clear(org, bo.id)).toBeNull()
  const move = { kind: 'add', memberRef: 'bo' } as const
  await accounts.change(org, 'desk', () => ({ settings: {}, move, newMember: { ...bo, id: uuid() } }))
  expect((await accounts.find(org, 'desk', 'bo'))?.member).toMatchObject({ id: bo.id, code: { set: false } })
})
