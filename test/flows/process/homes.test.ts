import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createHomes, firstFound, type Homes, STALE_MS } from '../../../src/flows/process/homes.js'
import type { Placement, PlacementState } from '../../../src/storage/placement.js'

/** A database with organizations and placements, which fails while it is lost. */
function fakeDatabase(name: string, organizations: string[]) {
  const states = new Map<string, PlacementState>()
  const database = { lost: false }
  const answers = <T>(value: () => T) => (database.lost ? Promise.reject(new Error('lost')) : Promise.resolve(value()))
  const placementOf = ([organizationId, state]: [string, PlacementState]): Placement => ({
    organizationId,
    state,
    other: 'other',
    since: 0,
  })
  return {
    name,
    organizations,
    states,
    database,
    placements: {
      has: (organizationId: string) => answers(() => organizations.includes(organizationId)),
      list: () => answers(() => [...states].map(placementOf)),
    },
  }
}

describe('the homes of organizations over two databases', () => {
  let now: number
  let one: ReturnType<typeof fakeDatabase>
  let two: ReturnType<typeof fakeDatabase>
  let homes: Homes
  const pass = async (ms: number) => {
    for (let left = ms; left > 0; left -= 100) {
      now += 100
      await vi.advanceTimersByTimeAsync(100)
    }
  }
  beforeEach(async () => {
    vi.useFakeTimers()
    now = 0
    one = fakeDatabase('one', ['a'])
    two = fakeDatabase('two', ['b'])
    homes = createHomes([one, two], { monotonicMs: () => now, patience: 1 })
    await pass(100)
  })
  afterEach(async () => {
    await homes.stop()
    vi.useRealTimers()
  })

  it('finds each organization in the database that has it, and an unknown one in the first', async () => {
    expect(await homes.of('a')).toBe(0)
    expect(await homes.of('b')).toBe(1)
    expect(await homes.of('c')).toBe(0)
    expect(homes.of('b')).toBe(1)
  })

  it('refuses the organizations of a database that is lost, and no others, until it answers again', async () => {
    expect(await homes.of('a')).toBe(0)
    expect(await homes.of('b')).toBe(1)
    two.database.lost = true
    await pass(STALE_MS + 600)
    expect(homes.of('a')).toBe(0)
    expect(() => homes.of('b')).toThrow('the database two is out of reach')
    expect(homes.known('b')).toBeNull()
    two.database.lost = false
    await pass(600)
    expect(homes.of('b')).toBe(1)
  })

  it('refuses an organization that no database that answers has, while another does not answer', async () => {
    two.database.lost = true
    await pass(STALE_MS + 600)
    expect(await homes.of('a')).toBe(0)
    await expect(homes.of('c')).rejects.toThrow()
  })

  it('follows a move: serves the source while it is copied, refuses at the end, then serves the destination', async () => {
    expect(await homes.of('a')).toBe(0)
    two.organizations.push('a')
    two.states.set('a', 'arriving')
    for (const state of ['copying', 'leaving'] as const) {
      one.states.set('a', state)
      await pass(600)
      expect(homes.of('a')).toBe(0)
    }
    expect([homes.isAt('a', 0), homes.isAt('a', 1)]).toEqual([true, false])
    for (const state of ['closing', 'closed'] as const) {
      one.states.set('a', state)
      await pass(600)
      expect(() => homes.of('a')).toThrow('is being moved')
      expect(homes.known('a')).toBeNull()
    }
    two.states.delete('a')
    one.states.set('a', 'left')
    await pass(600)
    expect(await homes.of('a')).toBe(1)
    expect([homes.isAt('a', 0), homes.isAt('a', 1)]).toEqual([false, true])
  })

  it('refuses for the moment in which the source is seen as left and the destination as arriving', async () => {
    expect(await homes.of('a')).toBe(0)
    two.organizations.push('a')
    two.states.set('a', 'arriving')
    one.states.set('a', 'left')
    await pass(600)
    await expect(homes.of('a')).rejects.toThrow('is being moved')
    const row = Promise.resolve({ organizationId: 'a' })
    await expect(homes.firstAtHome([row, row])).rejects.toThrow('is being moved')
    two.states.delete('a')
    await pass(600)
    expect(await homes.firstAtHome([row, row])).toEqual({ organizationId: 'a' })
    expect(await homes.firstAtHome([Promise.resolve(null)])).toBeNull()
  })

  it('finds an organization that it has not seen while that is closed at its source: only after the switch', async () => {
    one.states.set('a', 'closed')
    two.organizations.push('a')
    two.states.set('a', 'arriving')
    await pass(600)
    await expect(homes.of('a')).rejects.toThrow('is being moved')
    two.states.delete('a')
    await pass(600)
    expect(await homes.of('a')).toBe(1)
  })
})

describe('the first answer that is found', () => {
  const never = new Promise<string | null>(() => {})
  const lost = () => Promise.reject<string | null>(new Error('lost'))
  it('does not wait for the others', async () => {
    expect(await firstFound([never, Promise.resolve('here'), lost()])).toBe('here')
  })
  it('is nothing only if every answer is nothing', async () => {
    expect(await firstFound([Promise.resolve(null), Promise.resolve(null)])).toBeNull()
    await expect(firstFound([Promise.resolve(null), lost()])).rejects.toThrow('lost')
  })
})
