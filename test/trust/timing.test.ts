import { randomBytes, randomInt } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { newApiKey } from '../../src/flows/organization/organizations.js'
import { sha256 } from '../../src/flows/process/tokens.js'
import { createAuthenticate } from '../../src/flows/session/authenticate.js'
import { codeHashThreadFile } from '../../src/scoring/artifacts.js'
import type { ApiKeyStore, KeyHolder } from '../../src/storage/api-key.js'
import { createCodeHash } from '../../src/storage/crypto/code-hash-argon2.js'
import { figure, LONG } from '../harness/figure.js'

const owner = { organizationId: 'acme', memberId: 'ann' }
const pepperOf = async () => Buffer.alloc(32, 7)
const HOLDER: KeyHolder = { organizationId: 'acme', keyId: 'one', scopes: ['core'], rate: null }
const real = { pepperOf, threadFile: codeHashThreadFile() }

/** The same text with one other character. */
const wrongAt = (text: string, at: number) => text.slice(0, at) + (text[at] === 'A' ? 'B' : 'A') + text.slice(at + 1)

describe('the time of an answer', () => {
  it('says nothing of a key: only the hash of what came is looked up', async () => {
    const key = newApiKey()
    const lookedUp: Uint8Array[] = []
    const resolve = async (hash: Uint8Array) => {
      lookedUp.push(hash)
      return Buffer.from(sha256(key)).equals(hash) ? HOLDER : null
    }
    // Sound: it calls nothing else.
    const apiKeys = { resolve } as unknown as ApiKeyStore
    const authenticate = createAuthenticate({ apiKeys, spendRate: () => {}, monotonicMs: () => 0 })
    const tries = [key, wrongAt(key, 3), wrongAt(key, key.length - 2), newApiKey()]
    const accepted = await Promise.all(tries.map(authenticate))
    expect(accepted.map((one) => one !== null)).toEqual([true, false, false, false])
    const byHash = lookedUp.filter((hash, n) => Buffer.from(sha256(tries[n] ?? '')).equals(hash)).length
    figure('T16', `${byHash} of ${tries.length} keys looked up by their hash alone`, 'all', byHash === tries.length)
  })

  it('does not say whether a security code is set: the same hash is computed', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'keystride-thread-'))
    const threadFile = join(folder, 'thread.mjs')
    writeFileSync(threadFile, 'export default (task) => { throw new Error(JSON.stringify(task)) }')
    const hashes = createCodeHash(real)
    const kept = await hashes.hash(owner, '749205')
    const [wrong, none] = [await hashes.matches(owner, '480653', kept), await hashes.matches(owner, '480653', null)]
    expect([await hashes.matches(owner, '749205', kept), wrong, none]).toEqual([true, false, false])
    await hashes.close()

    const watched = createCodeHash({ pepperOf, threadFile })
    /** The task that a thread gets for a comparison; salt and digest as zeros. */
    const taskFor = async (stored: string | null) => {
      const { message } = (await watched
        .matches(owner, '480653', stored)
        .catch((error: Error) => error as Error)) as Error
      return message.replace(/\$[\w+/]{22}\$[\w+/]{43}/, (secret) => secret.replace(/[^$]/g, '0'))
    }
    const [withCode, without] = [await taskFor(kept), await taskFor(null)]
    await watched.close()
    rmSync(folder, { recursive: true })
    expect(withCode).toContain('$argon2id$')
    figure(
      'T16',
      `${without === withCode ? 'equal' : 'DIFFERENT'} hashes with and without a code`,
      'is',
      without === withCode,
    )
  })
})

/** Below this |t| no difference is shown. By chance alone |t| exceeds it once in 150,000 times. */
const T_MOST = 4.5
/** Share of the pairs that is left out: those with the slowest call of either class, which other processes delayed. */
const LEFT_OUT = 0.1

/** Welch's t of two calls, `samples` times each, in pairs of random order, after samples / 10 pairs of warm-up. */
async function welch(
  calls: readonly [() => Promise<unknown>, () => Promise<unknown>],
  samples: number,
): Promise<number> {
  const pairs: (readonly [number, number])[] = []
  const timed = async (call: () => Promise<unknown>) => {
    const begun = process.hrtime.bigint()
    await call()
    return Number(process.hrtime.bigint() - begun) / 1000
  }
  for (let i = -samples / 10; i < samples; i++) {
    const swapped = randomInt(2)
    const first = await timed(calls[swapped] ?? calls[0])
    const second = await timed(calls[1 - swapped] ?? calls[1])
    if (i >= 0) pairs.push(swapped === 1 ? [second, first] : [first, second])
  }
  const kept = pairs.sort((a, b) => Math.max(...a) - Math.max(...b)).slice(0, Math.ceil(samples * (1 - LEFT_OUT)))
  const [a, b] = [moments(kept.map(([one]) => one)), moments(kept.map(([, other]) => other))]
  return (a.mean - b.mean) / Math.sqrt((a.variance + b.variance) / kept.length)
}

function moments(values: readonly number[]): { mean: number; variance: number } {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  return { mean, variance: values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1) }
}

// Times depend on the machine, so only the long form measures them.
it.runIf(LONG)(
  'the measured time of an answer does not depend on whether a security code is set',
  async () => {
    const codes = createCodeHash({ ...real, pepperOf: async () => randomBytes(32) })
    const kept = await codes.hash(owner, '749205')
    const t = await welch(
      [() => codes.matches(owner, '480653', kept), () => codes.matches(owner, '480653', null)],
      5_000,
    )
    await codes.close()
    figure('T16', `code wrong or none set: t ${t.toFixed(2)} over 2 x 5,000`, `|t| < ${T_MOST}`, Math.abs(t) < T_MOST)
  },
  1_800_000,
)
