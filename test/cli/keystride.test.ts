import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { afterFailure, NO_ATTEMPTS } from '../../src/domain/attempts.js'
import { givenKeys } from '../../src/storage/key-ring.js'
import { postgresAuthentications } from '../../src/storage/postgres/attempt/authentication.js'
import { connectPostgres, type Database } from '../../src/storage/postgres/connection/client.js'
import { postgresSecurityCodes } from '../../src/storage/postgres/person/security-code.js'
import { type Keystride, keystrideHere } from '../harness/command.js'
import { attempt, person } from '../harness/fixtures.js'
import { type FreshDatabase, freshDatabase } from '../servers/database.js'

const ABSENT = '0198c0de-0000-7000-8000-000000000000'
const key = (fill: number) => Buffer.alloc(32, fill).toString('base64')

let fresh: FreshDatabase
let env: Record<string, string>
let keystride: Keystride
let org: string
beforeAll(async () => {
  fresh = await freshDatabase()
  env = { DATABASE_URL: fresh.url, ENCRYPTION_KEY: key(3) }
  keystride = keystrideHere(env)
  org = (await keystride('organization', 'create', 'Acme')).stdout.split('\n')[0] ?? ''
})
afterAll(() => fresh.drop())
const said = async (...args: string[]) => (await keystride(...args)).stdout
const json = async (...args: string[]) => JSON.parse(await said(...args, '--json'))

describe('keystride organization', () => {
  it('lists and renames organizations', async () => {
    expect(await said('organization', 'list')).toMatch(new RegExp(`${org} +Acme`))
    expect(await said('organization', 'rename', org, 'After')).toBe('renamed\n')
    expect(await json('organization', 'list')).toContainEqual({
      id: org,
      name: 'After',
      created: expect.stringMatching(/^20/),
    })
  })

  it('shows and changes quotas', async () => {
    const quotas = (...given: string[]) => said('organization', 'quotas', org, ...given)
    expect(await quotas()).toMatch(/mode: soft[\s\S]*accounts +unlimited +0/)
    expect(await quotas('--mode', 'strict', '--accounts', '7')).toMatch(/mode: strict[\s\S]*accounts +7 +0/)
    expect(await quotas('--shared-accounts', '2')).toMatch(/strict[\s\S]*accounts +7 +0[\s\S]*shared accounts +2 +0/)
    expect(await json('organization', 'quotas', org)).toMatchObject({ quotas: { mode: 'strict', accounts: 7 } })
  })

  it('shows and changes the rate limit of each key', async () => {
    const limits = (...given: string[]) => said('organization', 'limits', org, ...given)
    expect(await limits('--rate', '50')).toBe('50 requests a second for each key, 100 at once\n')
    expect(await limits('--rate', '50', '--burst', '5')).toContain('5 at once')
    expect(await json('organization', 'limits', org)).toEqual({ perSecond: 50, burst: 5 })
    expect(await limits('--rate', 'default')).toContain("the deployment's default")
    expect(await json('organization', 'limits', org)).toBeNull()
  })

  it('shows, replaces and removes the list of origins for redirects', async () => {
    const redirects = (...given: string[]) => said('organization', 'redirects', org, ...given)
    expect(await redirects()).toBe('any https address\n')
    const set = await redirects('https://App.example.com', 'http://localhost:3000')
    expect(set).toBe('https://app.example.com\nhttp://localhost:3000\n')
    expect(await redirects()).toBe(set)
    expect(await redirects('--any')).toBe('any https address\n')
  })

  it.each([
    ['quotas', '--accounts', '-1'],
    ['quotas', '--accounts', ''],
    ['quotas', '--mode', 'hard'],
    ['limits', '--rate', 'many'],
    ['limits', '--burst', '5'],
    ['redirects', 'https://app.example.com/path'],
    ['redirects', 'http://app.example.com'],
    ['redirects', '*'],
    ['redirects', '--any', 'https://a.example'],
  ])('refuses %s %s %s as a usage error', async (command, ...given) => {
    expect(await keystride('organization', command, org, ...given)).toMatchObject({ status: 2, stdout: '' })
  })
})

describe('keystride key', () => {
  it('issues, lists and revokes keys', async () => {
    const issued = await said('key', 'issue', org, '--label', 'backend', '--scopes', 'core,links')
    expect(issued.trim()).toMatch(/^ks_[A-Za-z0-9_-]{43}$/)
    const listed = await said('key', 'list', org)
    expect(listed).toMatch(/backend +core,links +\S+ +never +live/)
    expect(listed).not.toContain(issued.trim())
    const [{ id, state }] = await json('key', 'list', org)
    expect(state).toBe('live')
    expect(await said('key', 'revoke', org, id)).toBe('revoked\n')
    expect(await said('key', 'list', org)).toContain('revoked 20')
    expect((await keystride('key', 'revoke', org, id)).status).toBe(1)
  })

  it('guides through a rotation of the encryption key, and names keys only by their ids', async () => {
    const other = await freshDatabase()
    const idOf = (fill: number) => givenKeys(Buffer.alloc(32, fill)).present().id
    /** The command with the present key and previous keys; each key is 32 equal bytes. */
    const keyed = (present: number, ...previous: number[]) =>
      keystrideHere({
        DATABASE_URL: other.url,
        ENCRYPTION_KEY: key(present),
        ENCRYPTION_KEY_PREVIOUS: previous.map(key).join(' , '),
      })
    await keyed(1)('organization', 'create', 'Acme')
    await keyed(1)('organization', 'create', 'Bolt')
    expect((await keyed(1)('key', 'rotate')).stdout).toContain('give a new one as ENCRYPTION_KEY')

    // Without the key in use every command names it, and changes nothing.
    expect((await keyed(2)('key', 'status')).stdout).toMatch(
      new RegExp(`${idOf(1)} +2 +NOT HELD HERE\nPut ${idOf(1)} into ENCRYPTION_KEY`),
    )
    for (const args of ['key rotate', 'organization create Bolt', 'config check --connect'])
      expect(await keyed(2, 3)(...args.split(' '))).toMatchObject({
        status: 1,
        stderr: expect.stringContaining(`encryption key missing: ${idOf(1)} (data keys of 2 of 2 organizations)`),
      })

    const before = await keyed(2, 1)('key', 'status')
    expect(before.stdout).toMatch(new RegExp(`${idOf(2)} +0 +wraps\n${idOf(1)} +2 +opens only\n.*key rotate`))
    const rotated = await keyed(2, 1)('key', 'rotate')
    expect(rotated.stdout).toContain(`2 re-wrapped under ${idOf(2)}, 0 already current\n`)
    expect((await keyed(2, 1)('key', 'status')).stdout).toMatch(/ 0 +opens only\n.*can be removed/)
    expect((await keyed(2)('key', 'status')).stdout).toMatch(/^Every organization is under the present key\.$/m)
    expect(`${before.stdout}${rotated.stdout}`).not.toContain(key(1).slice(0, 20))
    await other.drop()
  })
})

describe('keystride member', () => {
  let database: Database
  beforeAll(() => {
    database = connectPostgres({ url: fresh.url, max: 2, patience: 10 })
    return () => database.close()
  })

  /** A member with 15 failures at typing and 10 at the code, just now. */
  async function lockedOut(userRef: string) {
    const ada = await person(database, org, userRef)
    const code = { hash: '$argon2id$secret', expiresAt: null, issued: [], setAt: Date.now() }
    await postgresSecurityCodes(database).set(org, ada.memberId, 0, code)
    let counters = NO_ATTEMPTS
    for (let i = 0; i < 15; i++) counters = afterFailure(counters, 'biometric', Date.now())
    for (let i = 0; i < 10; i++) counters = afterFailure(counters, 'security_code', Date.now())
    await postgresAuthentications(database).record(org, attempt(ada, { counters, attemptsVersion: 1 }))
    return new Date(counters.biometric.closedUntil).toISOString()
  }

  it('shows a member without secrets, unlocks the member, and then shows the attempts as open', async () => {
    const lockedUntil = await lockedOut('ada')
    const shown = await said('member', 'show', org, 'Ada')
    for (const line of [
      /^account +ada, nominative, created 20/,
      /^profile +not-ready, generation 0$/m,
      /^code +chosen by the member$/m,
      new RegExp(`^typing attempts +locked until ${lockedUntil}; failures: 15 since`, 'm'),
      /^security code attempts +closed until a new code is set; failures: 10 since/m,
    ])
      expect(shown).toMatch(line)
    const state = await json('member', 'show', org, 'ada')
    expect(state).toMatchObject({
      userRef: 'ada',
      biometricStatus: 'not-ready',
      securityCode: { set: true, temporary: false },
      attempts: {
        biometric: { locked: true, lockedUntil, streak: 15 },
        security_code: { locked: true, lockedUntil: null, streak: 10 },
      },
    })
    expect(`${shown}${JSON.stringify(state)}`).not.toContain('argon2')

    const unlocked = await said('member', 'unlock', org, 'ada', '--member-ref', 'ada')
    expect(unlocked).toContain(`typing was locked until ${lockedUntil}; failures: 15`)
    expect(unlocked).toMatch(/security code was closed until a new code is set; failures: 10.*\nunlocked\n$/)
    const after = await said('member', 'show', org, 'ada')
    expect(after).toMatch(/^typing attempts +open; failures: 0 /m)
    expect(after).toMatch(/^security code attempts +open; failures: 0 /m)
  })

  it.each([
    [['unlock', 'ORG', 'nobody'], 1, 'keystride: no user of this reference in this organization\n'],
    [['show', ABSENT, 'bob'], 1, 'keystride: there is no organization of that id\n'],
    [['unlock', 'ORG', 'ada', '--member-ref', 'carl'], 1, expect.stringContaining('member_ref differs')],
    [['show', 'ORG', '../x'], 2, expect.stringContaining('wanted a reference')],
  ])('names what is unknown: %j', async (args, status, stderr) => {
    const given = args.map((word) => (word === 'ORG' ? org : word))
    expect(await keystride('member', ...given)).toMatchObject({ status, stderr })
  })
})

describe('keystride', () => {
  it.each<[line: string, status: number, says: string]>([
    [`organization rename ${ABSENT} After`, 1, 'keystride: '],
    [`organization redirects ${ABSENT} https://a.example`, 1, 'keystride: there is no organization of that id\n'],
    [`key issue ${ABSENT}`, 1, 'keystride: there is no organization of that id\n'],
    [`key issue ${ABSENT} --scopes core,kitchen`, 2, 'wanted some of core, links, dashboard'],
    ['key issue nonsense', 2, 'wanted an id'],
    ['nonsense', 2, "unknown command 'nonsense'"],
    ['key nonsense', 2, "unknown command 'nonsense'"],
    ['organization list --nonsense', 2, "unknown option '--nonsense'"],
    ['organization create', 2, "missing required argument 'name'"],
    ['doctor --backup-max-age old', 2, 'wanted a number of hours above 0'],
    ['completion csh', 2, 'Allowed choices are bash, zsh, fish'],
  ])('%s ends with status %i and the reason', async (line, status, says) => {
    expect(await keystride(...line.split(' '))).toMatchObject({ status, stderr: expect.stringContaining(says) })
  })

  it('checks the configuration and reaches the stores', async () => {
    const { status, stdout } = await keystride('config', 'check', '--connect')
    expect(status).toBe(0)
    expect(stdout).toMatch(/DATABASE_URL +set/)
    expect(stdout).toContain('PostgreSQL answers')
    expect(stdout).not.toContain(env.DATABASE_URL)
    expect(await json('config', 'check')).toContainEqual(
      expect.objectContaining({ variable: 'DATABASE_URL', state: 'set' }),
    )
  })

  it('prints the same pattern of a made-up person for the same numbers', async () => {
    const typed = (who: string) => said('typing-pattern', '--person', who, '--session', '1')
    const one = await typed('1')
    expect(await typed('1')).toBe(one)
    expect(await typed('2')).not.toBe(one)
    expect(JSON.parse(one).kevt.length).toBeGreaterThanOrEqual(80)
  })

  it('prints a pattern of given words, in one argument or in several', async () => {
    const keys = async (...words: string[]) =>
      JSON.parse(await said('typing-pattern', '--words', ...words))
        .k.map(({ k }: { k: string }) => k)
        .join('')
    expect(await keys('table', 'garden', 'Müßig')).toBe('table garden mussig')
    expect(await keys('table garden window')).toBe('table garden window')
    expect(await keystride('typing-pattern', '--words', 'a b c')).toMatchObject({ status: 2 })
    expect(await keystride('typing-pattern', '--words', 'table garden', '--text', 'table garden window')).toMatchObject(
      {
        status: 2,
      },
    )
  })
})
