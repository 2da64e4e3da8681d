import { beforeEach, describe, expect, it } from 'vitest'
import { every } from '../../src/base/every.js'
import { createUsageMeter } from '../../src/flows/insight/usage-meter.js'
import { jsonLog } from '../../src/process/log.js'
import type { RequestCount } from '../../src/storage/usage.js'
import { flushUsage, stopJobs } from '../../src/wiring/background.js'

const REQUEST = {
  requestId: 'r',
  api: 'core',
  method: 'get',
  route: '/',
  status: 200,
  durationMs: 1,
  countedAs: 'other',
}

describe('the stop of background work', () => {
  let lines: string[]
  let counted: RequestCount[]
  beforeEach(() => {
    lines = []
    counted = []
  })
  const log = jsonLog('info', (line) => lines.push(line))
  const add = async (counts: readonly RequestCount[]): Promise<null> => {
    counted.push(...counts)
    return null
  }
  const noted = (adding: typeof add) => {
    const meter = createUsageMeter({ usage: { add: adding }, now: () => 0 })
    meter.note({ ...REQUEST, organizationId: 'acme' })
    return meter
  }

  // Regression: the stop waited for the round, until its deadline ended the process with the counts in memory.
  it('counts the last requests although a round does not end, and ends', async () => {
    const hanging = every({ work: () => new Promise<boolean>(() => {}), everyMs: 1000, onError: () => {} })
    await stopJobs([hanging], noted(add), log)
    expect(counted).toMatchObject([{ organizationId: 'acme', n: 1 }])
    expect(lines).toEqual([])
  })

  it('counts again what a running round could not count', async () => {
    let lose = () => {}
    const lost = new Promise<never>((_, reject) => {
      lose = () => reject(new Error('the connection is lost'))
    })
    let calls = 0
    const meter = noted((counts) => (calls++ === 0 ? lost : add(counts)))
    const stopped = stopJobs([flushUsage(meter, log)], meter, log)
    lose()
    await stopped
    expect(counted).toMatchObject([{ organizationId: 'acme', n: 1 }])
    expect(lines).toHaveLength(1)
  })
})
