import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { givenKeys } from '../../src/storage/key-ring.js'
import { client, newPerson } from '../harness/load.js'
import { until } from '../harness/patience.js'
import { type ServiceProcess, startProcess } from '../harness/service-process.js'
import { freshDatabase } from '../servers/database.js'

type Env = Record<string, string>

const command = fileURLToPath(new URL('../../bin/keystride.mjs', import.meta.url))
const CODE = '749205'
/** Sign-ins that must succeed before a rotation, and after the last one. */
const SIGN_INS = 3

let folder: string
let service: ServiceProcess | undefined
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'keystride-rotation-'))
})
afterEach(async () => {
  await service?.stop()
  service = undefined
  rmSync(folder, { recursive: true, force: true })
})

async function keystride(env: Env, ...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [command, ...args], {
    env: { ...process.env, ...env },
  })
  return stdout.trim()
}

/** A person with a profile and a code, who signs in with both. */
async function settle(apikey: string) {
  const who = newPerson()
  const user = `/users/${who.userRef}`
  let signIns = 0
  /** Calls the service that runs now. */
  const begin = async () => {
    const ask = client(service?.core ?? '', apikey)
    const { session } = await ask('bootstrap', 'GET', user)
    return { ask, session }
  }
  const { ask, session } = await begin()
  await who.enroll(ask)
  const set = await ask('code', 'PUT', `${user}/security-code`, { session, body: { securityCode: CODE } })
  expect(set.status, JSON.stringify(set.json)).toBe(200)
  ask.end()
  return {
    /** The code signs in. Typing is compared with the whole profile; whether it matches depends on the typing. */
    async signIn() {
      const { ask, session } = await begin()
      const verify = (body: unknown) => ask('verify', 'POST', `${user}/verify`, { session, body })
      const coded = await verify({ securityCode: CODE })
      expect([coded.status, coded.json.authentication?.authenticated], JSON.stringify(coded.json)).toEqual([200, true])
      const { status, json } = await verify(who.next())
      expect(status, JSON.stringify(json)).toBe(200)
      // There are five enrolled references, and the adaptive ones that were added meanwhile.
      if (json.reason !== 'detection-bot')
        expect(json.authentication.nPatternsRefUsed, JSON.stringify(json)).toBeGreaterThanOrEqual(5)
      signIns++
      ask.end()
    },
    signIns: () => signIns,
  }
}
type Resident = Awaited<ReturnType<typeof settle>>

/** Signs in continuously while the rotations run one after the other. */
async function signInDuring(people: readonly Resident[], rotations: (() => Promise<string>)[]) {
  let over = false
  const signingIn = Promise.all(
    people.map(async (one) => {
      while (!over) await one.signIn()
    }),
  )
  const rotating = async () => {
    const lines: string[] = []
    for (const rotate of rotations) {
      const enough = people[0]?.signIns() ?? 0
      await until(() => over || (people[0]?.signIns() ?? 0) >= enough + SIGN_INS)
      lines.push(await rotate())
    }
    over = true
    return lines
  }
  signingIn.catch(() => {
    over = true
  })
  const [lines] = await Promise.all([rotating(), signingIn])
  return lines
}

const key = (fill: number) => Buffer.alloc(32, fill).toString('base64')
const idOf = (fill: number) => givenKeys(Buffer.alloc(32, fill)).present().id

describe('a service whose encryption key is rotated during sign-ins', () => {
  it('serves during rotations back and forth, starts with the new key alone, and without it names the missing key', async () => {
    const fresh = await freshDatabase()
    const env = (present: number, previous?: number): Env => ({
      DATABASE_URL: fresh.url,
      ENCRYPTION_KEY: key(present),
      ...(previous === undefined ? {} : { ENCRYPTION_KEY_PREVIOUS: key(previous) }),
    })
    const id = (await keystride(env(1), 'organization', 'create', 'Acme')).split('\n')[0] ?? ''
    const apikey = await keystride(env(1), 'key', 'issue', id)
    service = await startProcess(env(1))
    const people = [await settle(apikey), await settle(apikey)]
    await service.stop()

    service = await startProcess(env(2, 1))
    const ways = [env(2, 1), env(1, 2), env(2, 1)]
    const lines = await signInDuring(
      people,
      ways.map((way) => () => keystride(way, 'key', 'rotate')),
    )
    expect(lines.map((line) => line.split('\n')[0])).toEqual([
      `1 re-wrapped under ${idOf(2)}, 0 already current`,
      `1 re-wrapped under ${idOf(1)}, 0 already current`,
      `1 re-wrapped under ${idOf(2)}, 0 already current`,
    ])
    await service.stop()

    service = await startProcess(env(2))
    for (const one of people) await one.signIn()
    await service.stop()
    service = undefined

    for (const wrong of [env(1), env(3), env(3, 1)]) {
      await expect(startProcess(wrong)).rejects.toThrow(`encryption key missing: ${idOf(2)}`)
    }
    await fresh.drop()
  })

  it('finds each new key of the embedded default by itself and after a restart', async () => {
    const env = { KEYSTRIDE_DATA: folder }
    service = await startProcess(env)
    const { apikey } = service.demo()
    const people = [await settle(apikey), await settle(apikey)]
    // The running service has not unwrapped this data key before its third encryption key appears.
    const id = (await keystride(env, 'organization', 'create', 'Acme')).split('\n')[0] ?? ''
    const others = await keystride(env, 'key', 'issue', id)
    const rotate = () => keystride(env, 'key', 'rotate')
    const lines = await signInDuring(people, [rotate, rotate, rotate])
    expect(lines.map((line) => line.split(' ')[0])).toEqual(['2', '2', '2'])
    const late = await settle(others)
    await late.signIn()
    await service.stop()
    service = await startProcess(env)
    for (const one of [...people, late]) await one.signIn()
  })
})
