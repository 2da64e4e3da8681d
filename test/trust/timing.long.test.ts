import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newApiKey } from '../../src/flows/organization/organizations.js'
import { newToken, sha256, sha256Hex } from '../../src/flows/process/tokens.js'
import { createAuthenticate } from '../../src/flows/session/authenticate.js'
import { createUuidV7 } from '../../src/process/new-id.js'
import { codeHashThreadFile } from '../../src/scoring/artifacts.js'
import { createCodeHash } from '../../src/storage/crypto/code-hash-argon2.js'
import { postgresSessions } from '../../src/storage/postgres/attempt/session.js'
import { connectPostgres, type Database } from '../../src/storage/postgres/connection/client.js'
import { postgresApiKeys } from '../../src/storage/postgres/organization/api-key.js'
import { type FreshDatabase, freshDatabase } from '../servers/database.js'
import { NOW, organization } from '../storage/fixtures.js'
import { figure, LONG } from './figure.js'
import { T_MOST, welch, welchText } from './welch.js'

const newId = createUuidV7(Date.now)
const SAMPLES = LONG ? 100_000 : 3_000
/** A comparison takes 23 ms by design, so 100,000 a class would take over an hour. */
const CODES = LONG ? 5_000 : 30
const BAR = `|t| < ${T_MOST}`

let fresh: FreshDatabase
let database: Database
let organizationId: string
beforeAll(async () => {
  fresh = await freshDatabase()
  database = connectPostgres({ url: fresh.url, max: 2, patience: 10 })
  organizationId = await organization(database)
})
afterAll(async () => {
  await database.close()
  await fresh.drop()
})

/** The same text with one other character. */
const wrongAt = (text: string, at: number) => {
  const other = text[at] === 'A' ? 'B' : 'A'
  return text.slice(0, at) + other + text.slice(at + 1)
}

describe('response time', { timeout: 1_800_000 }, () => {
  it('does not reveal how much of an API key is right', async () => {
    const apiKeys = postgresApiKeys(database)
    const key = newApiKey()
    await apiKeys.add({ id: newId(), organizationId, label: '', scopes: ['core'], createdAt: NOW }, sha256(key))
    // The clock moves 10 s a call, so that no cached key is used and each look-up goes to the store.
    let now = 0
    const authenticate = createAuthenticate({ apiKeys, spendRate: () => {}, monotonicMs: () => (now += 10_000) })
    expect(await authenticate(key)).not.toBeNull()
    const [early, late] = [wrongAt(key, 3), wrongAt(key, key.length - 2)]
    const result = await welch([() => authenticate(early), () => authenticate(late)], SAMPLES)
    figure('T16', welchText('key wrong at the first or a late character', result), BAR, Math.abs(result.t) < T_MOST)
  })

  it('does not reveal how much of a session id is right', async () => {
    const sessions = postgresSessions(database)
    const token = newToken()
    await sessions.mint(organizationId, { sha256: sha256Hex(token), userRef: 'ada', memberRef: 'ada', lifetimeMs: 1e9 })
    const find = (text: string) => sessions.find(organizationId, 'ada', sha256Hex(text))
    expect(await find(token)).not.toBeNull()
    const [early, late] = [wrongAt(token, 0), wrongAt(token, token.length - 2)]
    const result = await welch([() => find(early), () => find(late)], SAMPLES)
    figure('T16', welchText('session wrong at the first or a late character', result), BAR, Math.abs(result.t) < T_MOST)
  })

  it('does not reveal whether a security code is set', async () => {
    const pepper = randomBytes(32)
    const codes = createCodeHash({ pepperOf: async () => pepper, threadFile: codeHashThreadFile() })
    const owner = { organizationId, memberId: newId() }
    const kept = await codes.hash(owner, '749205')
    expect(await codes.matches(owner, '749205', kept)).toBe(true)
    const result = await welch(
      [() => codes.matches(owner, '480653', kept), () => codes.matches(owner, '480653', null)],
      CODES,
    )
    await codes.close()
    figure('T16', welchText('code wrong or none set', result), BAR, Math.abs(result.t) < T_MOST)
  })

  it('reveals a difference of a tenth to this test', async () => {
    const spin = (turns: number) => () => {
      let sum = 0
      for (let i = 0; i < turns; i++) sum += Math.sqrt(i)
      return sum
    }
    const { t } = await welch([spin(20_000), spin(22_000)], 12_000)
    expect(Math.abs(t)).toBeGreaterThan(T_MOST)
  })
})
