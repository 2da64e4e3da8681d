import { expect, it } from 'vitest'
import { newToken } from '../../src/flows/process/tokens.js'
import { figure, LONG } from './figure.js'

const IDS = LONG ? 1_000_000 : 100_000
/**
 * Random bits fail at 0.001 once in a thousand runs. The suite runs often, so its threshold is a false alarm in a
 * million runs.
 */
const P_LEAST = LONG ? 0.001 : 1e-6

/** The complementary error function, to 1.2e-7 (Abramowitz and Stegun, Handbook of Mathematical Functions, 7.1.26). */
function erfc(x: number): number {
  const t = 1 / (1 + 0.3275911 * Math.abs(x))
  const terms = [0.254829592, -0.284496736, 1.421413741, -1.453152027, 1.061405429]
  const value = terms.reduceRight((sum, term) => (sum + term) * t, 0) * Math.exp(-x * x)
  return x >= 0 ? value : 2 - value
}

/** p of the number of ones, and p of the number of runs of equal bits (NIST SP 800-22, 2.1 and 2.3). */
function randomness(bytes: Uint8Array): { monobit: number; runs: number } {
  const n = bytes.length * 8
  let [ones, runs, last] = [0, 0, -1]
  for (const byte of bytes)
    for (let bit = 0; bit < 8; bit++) {
      const now = (byte >> bit) & 1
      ones += now
      if (now !== last) runs++
      last = now
    }
  const share = ones / n
  const spread = 2 * share * (1 - share)
  return {
    monobit: erfc(Math.abs(2 * ones - n) / Math.sqrt(2 * n)),
    runs: erfc(Math.abs(runs - n * spread) / (Math.sqrt(2 * n) * spread)),
  }
}

it('session ids, keys and links never repeat, and their bits pass the tests of randomness', () => {
  const ids = new Set<string>()
  const bytes = Buffer.alloc(32 * IDS)
  for (let i = 0; i < IDS; i++) {
    const id = newToken()
    ids.add(id)
    bytes.write(id, 32 * i, 'base64url')
  }
  const { monobit, runs } = randomness(bytes)
  const repeated = IDS - ids.size
  const found = `${repeated} of ${IDS.toLocaleString('en')} repeated, monobit p ${monobit.toFixed(4)}, runs p ${runs.toFixed(4)}`
  figure('T04', found, `0, p > ${P_LEAST}`, repeated === 0 && Math.min(monobit, runs) > P_LEAST)
}, 60_000)

it('the tests of randomness detect bits that are not random', () => {
  const half = Buffer.alloc(32_000, 0b01010101)
  expect(randomness(half).runs).toBeLessThan(1e-6)
  expect(randomness(Buffer.alloc(32_000, 0b01110011)).monobit).toBeLessThan(1e-6)
  expect(erfc(0)).toBeCloseTo(1, 6)
  expect(erfc(1)).toBeCloseTo(0.1572992, 6)
})
