import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { afterFailure, NO_ATTEMPTS } from '../../../../src/domain/attempts.js'
import { createUnlock } from '../../../../src/flows/account/unlock.js'
import { postgresAttemptLocks } from '../../../../src/storage/postgres/attempt/attempt-lock.js'
import { postgresAuthentications } from '../../../../src/storage/postgres/attempt/authentication.js'
import { connectPostgres, type Database } from '../../../../src/storage/postgres/connection/client.js'
import { postgresAccounts } from '../../../../src/storage/postgres/person/account.js'
import { type FreshDatabase, freshDatabase } from '../../../servers/database.js'
import { attempt, NOW, organization, type Person, person } from '../../fixtures.js'

let fresh: FreshDatabase
let database: Database
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
  org = await organization(database)
  ada = await person(database, org)
})

const locked = () => {
  let counters = NO_ATTEMPTS
  for (let i = 0; i < 10; i++) counters = afterFailure(counters, 'security_code', NOW)
  for (let i = 0; i < 7; i++) counters = afterFailure(counters, 'biometric', NOW)
  return counters
}
const record = (changes: Parameters<typeof attempt>[1]) =>
  postgresAuthentications(database).record(org, attempt(ada, { replayMark: null, ...changes }))
const member = async () => (await postgresAccounts(database).find(org, 'ada', null))?.member
const flows = () => createUnlock({ accounts: postgresAccounts(database), attemptLocks: postgresAttemptLocks(database) })
const who = () => ({ organizationId: org, userRef: 'ada', memberRef: null })

describe('an unlock', () => {
  it('clears the failures of both kinds, enables a disabled code, and returns the old counters', async () => {
    const counters = locked()
    expect(counters.security_code.off).toBe(true)
    await record({ counters })
    expect(await flows().unlock(who())).toEqual(counters)
    expect(await member()).toMatchObject({ attempts: NO_ATTEMPTS, attemptsVersion: 2 })
  })

  it('invalidates verdicts on the old counters', async () => {
    await record({ counters: locked() })
    await flows().unlock(who())
    expect(await record({ attemptsVersion: 1, counters: locked() })).toBe('conflict')
    expect((await member())?.attempts).toEqual(NO_ATTEMPTS)
  })

  it('succeeds while attempts fail, and loses none that fail after it', async () => {
    let failed = 0
    const failing = async () => {
      for (let i = 0; i < 20; i++) {
        const found = await member()
        if (found === undefined || found === null) throw new Error('no member')
        const counters = afterFailure(found.attempts, 'biometric', NOW)
        const outcome = await record({ counters, attemptsVersion: found.attemptsVersion })
        if (outcome === 'recorded') failed++
      }
    }
    let forgotten = 0
    const unlocking = async () => {
      // In lockstep every record may be a conflict.
      while (failed === 0) await delay(1)
      for (let i = 0; i < 5; i++) forgotten += (await flows().unlock(who())).biometric.streak
    }
    await Promise.all([failing(), unlocking()])
    expect(forgotten).toBeGreaterThan(0)
    expect((await member())?.attempts.biometric.streak).toBe(failed - forgotten)
    expect((await member())?.attemptsVersion).toBe(failed + 5)
  })

  it('finds no member of another organization, and reports the absent one', async () => {
    const foreign = await organization(database)
    expect(await postgresAttemptLocks(database).clear(foreign, ada.memberId)).toBeNull()
    await expect(flows().unlock({ ...who(), organizationId: foreign })).rejects.toThrow('no user of this reference')
    await expect(flows().unlock({ ...who(), memberRef: 'bob' })).rejects.toThrow('member_ref differs')
  })
})
