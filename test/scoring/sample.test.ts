import { describe, expect, it } from 'vitest'
import { decodeSample, encodeSample, readableSample } from '../../src/scoring/sample.js'
import { typedBy } from './typists.js'

describe('sample', () => {
  it('round-trips keys and times to float32 precision', () => {
    for (const presses of [15, 16, 17, 50]) {
      const typed = typedBy(1, presses, presses)
      expect(decodeSample(encodeSample(typed, 'sensitive'))).toEqual({ mode: 'sensitive', presses: typed })
    }
  })

  it('starts at the first press, whatever the clock’s origin', () => {
    const typed = typedBy(1, 0)
    const later = typed.map((press) => ({ ...press, pressMs: press.pressMs + 5000, releaseMs: press.releaseMs + 5000 }))
    expect(encodeSample(later, 'visible')).toEqual(encodeSample(typed, 'visible'))
  })

  it('keeps ten references of 50 keys under 8 KiB', () => {
    expect(10 * encodeSample(typedBy(1, 0, 50), 'visible').length).toBeLessThan(8192)
  })

  it('refuses another version and truncated, padded and empty samples', () => {
    const bytes = encodeSample(typedBy(1, 0), 'visible')
    expect(readableSample(bytes)).toBe(true)
    expect(readableSample(bytes.with(0, 2))).toBe(false)
    expect(readableSample(bytes.subarray(0, -1))).toBe(false)
    expect(readableSample(new Uint8Array([...bytes, 0]))).toBe(false)
    expect(decodeSample(new Uint8Array())).toBeNull()
  })
})
