import { describe, expect, it } from 'vitest'
import { createUsageMeter } from '../../../src/flows/insight/usage-meter.js'
import type { RequestCount, UsageStore } from '../../../src/storage/usage.js'

const MIDNIGHT = Date.UTC(2026, 5, 16)
const request = {
  requestId: 'r',
  api: 'core',
  method: 'get',
  route: '/x',
  status: 200,
  durationMs: 1,
  organizationId: 'a',
  countedAs: 'other',
}

/** A store that keeps what it is given, and fails while it is told to. */
function kept() {
  const counted: RequestCount[] = []
  const logged: unknown[] = []
  const store = { fails: false }
  const add: UsageStore['add'] = async (counts, requests) => {
    if (store.fails) throw new Error('away')
    counted.push(...counts)
    logged.push(...requests)
  }
  return { store, counted, logged, add }
}

describe('the usage meter', () => {
  it('puts a request into the UTC day it was answered in, by class and organization', async () => {
    const { add, counted } = kept()
    let now = MIDNIGHT - 1
    const meter = createUsageMeter({ usage: { add }, now: () => now })
    meter.note({ ...request, countedAs: 'verify' })
    meter.note({ ...request, countedAs: 'verify' })
    now = MIDNIGHT
    meter.note({ ...request, countedAs: 'verify' })
    meter.note({ ...request, countedAs: null, organizationId: 'b' })
    meter.note({ ...request, organizationId: null })
    await meter.flush()
    await meter.flush()
    expect(counted).toEqual([
      { organizationId: 'a', day: '2026-06-15', class: 'verify', n: 2 },
      { organizationId: 'a', day: '2026-06-16', class: 'verify', n: 1 },
      { organizationId: 'b', day: '2026-06-16', class: 'other', n: 1 },
    ])
  })

  it('adds later what could not be added, once', async () => {
    const { store, add, counted, logged } = kept()
    const meter = createUsageMeter({ usage: { add }, now: () => MIDNIGHT })
    store.fails = true
    meter.note(request)
    await expect(meter.flush()).rejects.toThrow('away')
    meter.note(request)
    store.fails = false
    await meter.flush()
    expect(counted.map(({ n }) => n)).toEqual([2])
    expect(logged.length).toBe(2)
  })

  it('logs what failed and what leaves no record, not a successful verify', async () => {
    const { add, logged } = kept()
    const meter = createUsageMeter({ usage: { add }, now: () => MIDNIGHT })
    meter.note({ ...request, countedAs: 'verify' })
    meter.note({ ...request, countedAs: 'verify', status: 422 })
    meter.note(request)
    await meter.flush()
    expect(logged.length).toBe(2)
  })
})
