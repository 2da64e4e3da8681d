import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { afterFailure, NO_ATTEMPTS } from '../../src/domain/attempts.js'
import { postgresAuthentications } from '../../src/storage/postgres/attempt/authentication.js'
import { connectPostgres, type Database } from '../../src/storage/postgres/connection/client.js'
import { postgresSecurityCodes } from '../../src/storage/postgres/person/security-code.js'
import { type FreshDatabase, freshDatabase } from '../servers/database.js'
import { attempt, organization, person } from '../storage/fixtures.js'
import { type Keystride, keystrideWith } from './command.js'

let fresh: FreshDatabase
let database: Database
let keystride: Keystride
let org: string
beforeAll(async () => {
  fresh = await freshDatabase()
  database = connectPostgres({ url: fresh.url, max: 2, patience: 10 })
  keystride = keystrideWith({ DATABASE_URL: fresh.url, ENCRYPTION_KEY: Buffer.alloc(32, 3).toString('base64') })
  org = await organization(database)
})
afterAll(async () => {
  await database.close()
  await fresh.drop()
})

/** A member with 15 failures at typing and 10 at the code, just now. */
async function lockedOut(userRef: string) {
  const ada = await person(database, org, userRef)
  await postgresSecurityCodes(database).set(org, ada.memberId, 0, {
    hash: '$argon2id$secret',
    expiresAt: null,
    issued: [],
    setAt: Date.now(),
  })
  let counters = NO_ATTEMPTS
  for (let i = 0; i < 15; i++) counters = afterFailure(counters, 'biometric', Date.now())
  for (let i = 0; i < 10; i++) counters = afterFailure(counters, 'security_code', Date.now())
  await postgresAuthentications(database).record(org, attempt(ada, { counters, attemptsVersion: 1 }))
  return counters
}

/** Each command is a process that takes a second, or longer on a busy machine. */
describe('keystride member', { timeout: 120_000 }, () => {
  it('shows a member without secrets, unlocks the member, and then shows the attempts as open', async () => {
    const counters = await lockedOut('ada')
    const until = new Date(counters.biometric.closedUntil).toISOString()
    const before = await keystride('member', 'show', org, 'Ada')
    expect(before.status).toBe(0)
    expect(before.stdout).toMatch(/^account +ada, nominative, created 2026/)
    expect(before.stdout).toMatch(/^profile +not-ready, generation 0$/m)
    expect(before.stdout).toMatch(/^code +chosen by the member$/m)
    expect(before.stdout).toMatch(new RegExp(`^typing attempts +locked until ${until}; failures: 15 since`, 'm'))
    expect(before.stdout).toMatch(/^security code attempts +closed until a new code is set; failures: 10 since/m)
    expect(before.stdout).not.toContain('argon2')

    const state = JSON.parse((await keystride('member', 'show', org, 'ada', '--json')).stdout)
    expect(state).toMatchObject({
      userRef: 'ada',
      biometricStatus: 'not-ready',
      securityCode: { set: true, temporary: false },
      attempts: {
        biometric: { locked: true, lockedUntil: until, streak: 15 },
        security_code: { locked: true, lockedUntil: null, streak: 10 },
      },
    })
    expect(JSON.stringify(state)).not.toContain('argon2')

    const unlocked = await keystride('member', 'unlock', org, 'ada', '--member-ref', 'ada')
    expect(unlocked.stdout.split('\n')).toEqual([
      expect.stringContaining(`typing was locked until ${until}; failures: 15 since the last success`),
      expect.stringContaining('security code was closed until a new code is set; failures: 10 since the last success'),
      'unlocked',
      '',
    ])
    const after = await keystride('member', 'show', org, 'ada')
    expect(after.stdout).toMatch(/^typing attempts +open; failures: 0 /m)
    expect(after.stdout).toMatch(/^security code attempts +open; failures: 0 /m)
    expect((await keystride('member', 'unlock', org, 'ada')).stdout).toMatch(/^typing was open/)
  })

  it('names an unknown organization or member in one line', async () => {
    const absent = '0198c0de-0000-7000-8000-000000000000'
    await person(database, org, 'bob')
    const lines = await Promise.all([
      keystride('member', 'unlock', org, 'nobody'),
      keystride('member', 'show', absent, 'bob'),
      keystride('member', 'unlock', org, 'bob', '--member-ref', 'carl'),
    ])
    expect(lines.map(({ status }) => status)).toEqual([1, 1, 1])
    expect(lines.map(({ stderr }) => stderr)).toEqual([
      'keystride: no user of this reference in this organization\n',
      'keystride: there is no organization of that id\n',
      expect.stringContaining('member_ref differs'),
    ])
    expect((await keystride('member', 'show', org, '../x')).stderr).toContain('wanted a reference')
  })
})
