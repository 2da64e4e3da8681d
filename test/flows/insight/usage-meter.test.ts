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

/** A store that keeps its input, and fails while `fails` is set. */
function recordingStore() {
  const counted: RequestCount[] = []
  const logged: unknown[] = []
  const store = { fails: false }
  const add: UsageStore['add'] = async (counts, requests) => {
    if (store.fails) throw new Error('away')
    counted.push(...counts)
    logged.push(...requests)
    return null
  }
  return { store, counted, logged, add }
}

describe('the usage meter', () => {
  it('counts a request in the UTC day of its answer, by class and organization', async () => {
    const { add, counted } = recordingStore()
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

  it('writes the counts of a failed flush with the next one, once', async () => {
    const { store, add, counted, logged } = recordingStore()
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

  it('logs requests and failures, but no successful verify', async () => {
    const { add, logged } = recordingStore()
    const meter = createUsageMeter({ usage: { add }, now: () => MIDNIGHT })
    meter.note({ ...request, countedAs: 'verify' })
    meter.note({ ...request, countedAs: 'verify', status: 422 })
    meter.note(request)
    await meter.flush()
    expect(logged.length).toBe(2)
  })
})
