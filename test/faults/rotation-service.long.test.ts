import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { suggestWords } from '../../src/domain/typing-words.js'
import { givenKeys } from '../../src/storage/key-ring.js'
import { person } from '../../src/typist/made-up-person.js'
import { freshDatabase } from '../servers/database.js'
import { type ServiceProcess, startProcess } from './service-process.js'

type Env = Record<string, string>

const command = fileURLToPath(new URL('../../bin/keystride.mjs', import.meta.url))
const CODE = '749205'
/** Sign-ins that must succeed before a rotation, and after the last one. */
const SIGN_INS = 3
/** Accepted share of the sign-ins by typing: on a slow machine they are few, and two of six may be rejected. */
const SHARE_MIN = 0.5

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
function someone(apikey: string, userRef: string, seed: number) {
  const who = person(seed)
  const body = (n: number) => who.types(suggestWords('en', n).join(' '), n)
  let session = ''
  const call = async (method: string, path: string, sent?: unknown) => {
    const answer = await fetch(`${service?.core}/users/${userRef}${path}`, {
      method,
      headers: {
        apikey,
        ...(sent === undefined ? {} : { 'content-type': 'application/json', 'x-service-session': session }),
      },
      ...(sent === undefined ? {} : { body: JSON.stringify(sent) }),
    })
    session = answer.headers.get('x-service-session') ?? session
    // biome-ignore lint/suspicious/noExplicitAny: each look says what it expects
    return { status: answer.status, json: (await answer.json()) as any }
  }
  let typed = 100
  let accepted = 0
  let signIns = 0
  return {
    async enroll() {
      await call('POST', '')
      await call('GET', '')
      for (let n = 0, stored = 0; stored < 5; n++) {
        const { status, json } = await call('POST', '/typing-patterns', body(n))
        if (status === 200) stored++
        else expect(json.reason, JSON.stringify(json)).toBe('detection-bot')
      }
      expect(await call('PUT', '/security-code', { securityCode: CODE })).toMatchObject({ status: 200 })
    },
    /** The code must always sign in. Typing is scored against the whole profile and mostly succeeds. */
    async signIn() {
      await call('GET', '')
      const coded = await call('POST', '/verify', { securityCode: CODE })
      expect([coded.status, coded.json.authentication?.authenticated], JSON.stringify(coded.json)).toEqual([200, true])
      const { status, json } = await call('POST', '/verify', body(typed++))
      expect(status, JSON.stringify(json)).toBe(200)
      if (json.reason === 'detection-bot') return
      // Five enrolled references, and the adaptive ones added meanwhile.
      expect(json.authentication.nPatternsRefUsed, JSON.stringify(json)).toBeGreaterThanOrEqual(5)
      signIns++
      if (json.authentication.authenticated) accepted++
    },
    signIns: () => signIns,
    acceptedShare: () => accepted / signIns,
  }
}

/** Signs in continuously while the rotations run one after the other. */
async function signInDuring(people: readonly ReturnType<typeof someone>[], rotations: (() => Promise<string>)[]) {
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
      while (!over && (people[0]?.signIns() ?? 0) < enough + SIGN_INS)
        await new Promise((resolve) => setTimeout(resolve, 5))
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
    const people = [someone(apikey, 'ann', 11), someone(apikey, 'bob', 12)]

    service = await startProcess(env(1))
    for (const one of people) await one.enroll()
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
    for (const one of people) expect(one.acceptedShare()).toBeGreaterThan(SHARE_MIN)
    await service.stop()
    service = undefined

    for (const wrong of [env(1), env(3), env(3, 1)]) {
      await expect(startProcess(wrong)).rejects.toThrow(`encryption key missing: ${idOf(2)}`)
    }
    await fresh.drop()
  }, 120_000)

  it('finds each new key of the embedded default by itself and after a restart', async () => {
    const env = { KEYSTRIDE_DATA: folder }
    service = await startProcess(env)
    const { apikey } = service.demo()
    const people = [someone(apikey, 'ann', 11), someone(apikey, 'bob', 12)]
    for (const one of people) await one.enroll()
    // The running service has not unwrapped this data key before its third encryption key appears.
    const id = (await keystride(env, 'organization', 'create', 'Acme')).split('\n')[0] ?? ''
    const others = await keystride(env, 'key', 'issue', id)
    const rotate = () => keystride(env, 'key', 'rotate')
    const lines = await signInDuring(people, [rotate, rotate, rotate])
    expect(lines.map((line) => line.split(' ')[0])).toEqual(['2', '2', '2'])
    const late = someone(others, 'carl', 13)
    await late.enroll()
    await late.signIn()
    await service.stop()
    service = await startProcess(env)
    for (const one of [...people, late]) await one.signIn()
    for (const one of people) expect(one.acceptedShare()).toBeGreaterThan(SHARE_MIN)
  }, 120_000)
})
