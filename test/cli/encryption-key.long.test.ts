import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { givenKeys } from '../../src/storage/key-ring.js'
import { type FreshDatabase, freshDatabase } from '../servers/database.js'
import { keystrideWith } from './command.js'

let fresh: FreshDatabase
beforeEach(async () => {
  fresh = await freshDatabase()
})
afterEach(() => fresh.drop())

const key = (fill: number) => Buffer.alloc(32, fill).toString('base64')
const idOf = (fill: number) => givenKeys(Buffer.alloc(32, fill)).present().id

/** The command with the present key and previous keys; each key is 32 equal bytes. */
const keystride = (present: number, ...previous: number[]) =>
  keystrideWith({
    DATABASE_URL: fresh.url,
    ENCRYPTION_KEY: key(present),
    ENCRYPTION_KEY_PREVIOUS: previous.map(key).join(' , '),
  })

/** Each command is a process that takes a second, or longer on a busy machine. */
describe('keystride key', { timeout: 120_000 }, () => {
  it('guides through a rotation, and names keys only by their ids', async () => {
    await keystride(1)('organization', 'create', 'Acme')
    await keystride(1)('organization', 'create', 'Bolt')
    expect((await keystride(1)('key', 'rotate')).stdout).toContain('give a new one as ENCRYPTION_KEY')

    const before = await keystride(2, 1)('key', 'status')
    expect(before.stdout).toMatch(new RegExp(`${idOf(2)} +0 +wraps\n${idOf(1)} +2 +opens only\n.*key rotate`))

    const rotated = await keystride(2, 1)('key', 'rotate')
    expect(rotated).toEqual({
      status: 0,
      stdout: `2 re-wrapped under ${idOf(2)}, 0 already current\nonce every process has the present key, ENCRYPTION_KEY_PREVIOUS can be removed\n`,
      stderr: '2 re-wrapped\n',
    })
    expect((await keystride(2, 1)('key', 'status')).stdout).toMatch(/ 0 +opens only\n.*can be removed/)
    expect((await keystride(2)('key', 'status')).stdout).toMatch(/^Every organization is under the present key\.$/m)
    expect(`${before.stdout}${rotated.stdout}`).not.toContain(key(1).slice(0, 20))
  })

  it('names the missing key, and changes nothing', async () => {
    await keystride(1)('organization', 'create', 'Acme')
    const status = await keystride(2)('key', 'status')
    expect(status.stdout).toMatch(new RegExp(`${idOf(1)} +1 +NOT HELD HERE\nPut ${idOf(1)} into ENCRYPTION_KEY`))
    for (const args of [
      ['key', 'rotate'],
      ['organization', 'create', 'Bolt'],
      ['config', 'check', '--connect'],
    ]) {
      expect(await keystride(2, 3)(...args)).toMatchObject({
        status: 1,
        stderr: expect.stringContaining(`encryption key missing: ${idOf(1)} (data keys of 1 of 1 organizations)`),
      })
    }
    expect((await keystride(1)('key', 'status')).stdout).toMatch(new RegExp(`${idOf(1)} +1 +wraps`))
  })
})
