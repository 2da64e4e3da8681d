import { validate, version } from 'uuid'
import { expect, it } from 'vitest'
import { createUuidV7 } from '../../src/process/new-id.js'

it('creates ascending, distinct UUIDv7 with their time of creation', () => {
  const newId = createUuidV7(() => 5000)
  const ids = Array.from({ length: 20_000 }, newId)
  expect(new Set(ids).size).toBe(ids.length)
  expect([...ids].sort()).toEqual(ids)
  for (const id of ids.slice(0, 1000)) expect([validate(id), version(id)]).toEqual([true, 7])
  const times = ids.map((id) => Number.parseInt(id.replace('-', '').slice(0, 12), 16))
  expect(new Set(times)).toEqual(new Set([5000]))
})

it('creates ascending ids even if the clock is set back', () => {
  let now = 5000
  const newId = createUuidV7(() => now)
  const ids = [newId(), newId()]
  now = 1000
  ids.push(newId())
  expect([...ids].sort()).toEqual(ids)
})

it('uses every bit that RFC 9562 leaves to the sequence and to chance', () => {
  let now = 1_800_000_000_000
  const newId = createUuidV7(() => now++)
  const values = Array.from({ length: 1000 }, () => BigInt(`0x${newId().replaceAll('-', '')}`))
  const [ones, zeros] = [values.reduce((a, b) => a | b), values.reduce((a, b) => a | ~b, 0n)]
  const both = BigInt.asUintN(80, ones & zeros) // below the 48 bits of the time
  // The version is 4 bits and the variant 2; the sequence begins with a 0, so that a millisecond has 2^31 ids at least.
  expect(both.toString(2).padStart(80, '0')).toBe(`00000${'1'.repeat(11)}00${'1'.repeat(62)}`)
})
