import { expect, it } from 'vitest'
import { newToken } from '../../src/flows/process/tokens.js'
import { figure, LONG } from '../harness/figure.js'

const IDS = LONG ? 1_000_000 : 20_000

it('session ids, keys and links have 256 bits, each of them random, and never repeat', () => {
  const ids = new Set<string>()
  const [ones, zeros] = [Buffer.alloc(32), Buffer.alloc(32, 255)]
  for (let n = 0; n < IDS; n++) {
    const id = newToken()
    ids.add(id)
    for (const [at, byte] of Buffer.from(id, 'base64url').entries()) {
      ones[at] = (ones[at] ?? 0) | byte
      zeros[at] = (zeros[at] ?? 0) & byte
    }
  }
  const fixed = [...ones.map((byte) => ~byte), ...zeros].filter((byte) => byte !== 0).length
  expect([...ids].filter((id) => !/^[\w-]{43}$/.test(id))).toEqual([])
  const found = `${IDS - ids.size} of ${IDS.toLocaleString('en')} repeated, ${fixed} of 32 bytes with a bit that never changes`
  figure('T04', found, '0 and 0', ids.size === IDS && fixed === 0)
})
