import { readConfig } from '../../src/process/config.js'
import { jsonLog } from '../../src/process/log.js'
import { fillWithMonth } from '../../src/wiring/demo-month.js'
import { openStores } from '../../src/wiring/open-stores.js'
import { startScoring } from '../../src/wiring/start-scoring.js'
import type { TestService } from '../harness/service.js'

/** Fills the organization of a test's service with the made-up month, while the service runs. */
export async function liveMonth(
  { env, organizationId }: TestService,
  signal = new AbortController().signal,
): Promise<void> {
  const config = readConfig(env)
  const log = jsonLog(config.logLevel)
  const stores = await openStores(config, log, { redis: true })
  const scoring = await startScoring(config, log)
  try {
    await fillWithMonth({ config, stores, scoring, organizationId, signal })
  } finally {
    await scoring.close()
    await stores.close()
  }
}
