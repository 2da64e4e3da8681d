import { v7 } from 'uuid'
import { DEFAULT_TARGETS } from '../../src/domain/biometric-status.js'
import type { ErasedPerson } from '../../src/domain/erased-person.js'
import { createAccountFlows } from '../../src/flows/account/accounts.js'
import { forgetPerson } from '../../src/flows/attempt/forget-person.js'
import { createPatternMemory } from '../../src/flows/attempt/pattern-memory.js'
import { createPersonCache } from '../../src/flows/attempt/person-cache.js'
import { createPolicyFlows } from '../../src/flows/organization/policies.js'
import { createSettings } from '../../src/flows/organization/settings.js'
import { newToken } from '../../src/flows/process/tokens.js'
import { createEnroll } from '../../src/flows/profile/enroll.js'
import { createProfileFlows } from '../../src/flows/profile/profiles.js'
import { createBootstrap } from '../../src/flows/session/bootstrap.js'
import { readConfig } from '../../src/process/config.js'
import { jsonLog } from '../../src/process/log.js'
import { administration, openStores } from '../../src/wiring/open-stores.js'
import { startScoring } from '../../src/wiring/start-scoring.js'
import { freshDatabase } from '../servers/database.js'

export const HINTS = { language: null, acceptLanguage: null }

/** Flows with their own database and the shipped scoring. */
export async function startFlows() {
  const fresh = await freshDatabase()
  const key = Buffer.alloc(32, 7).toString('base64')
  const config = readConfig({ DATABASE_URL: fresh.url, ENCRYPTION_KEY: key, SCORING_WORKERS: '1' })
  const log = jsonLog('error')
  const stores = await openStores(config, log, { redis: false })
  const scoring = await startScoring(config, log)
  const { settingsOf, forgetSettings } = createSettings({ ...stores, monotonicMs: () => performance.now() })
  const caches = { people: createPersonCache(1e6), memory: createPatternMemory(1e6) }
  const needs = {
    ...stores,
    scoring,
    ...caches,
    forgetPerson: async (person: ErasedPerson) => forgetPerson(caches, person),
    settingsOf,
    forgetSettings: async (organizationId: string) => forgetSettings(organizationId),
    targets: DEFAULT_TARGETS,
    contextIndicators: [],
    newId: () => v7(),
    newToken,
    now: Date.now,
    randomSeed: () => 1,
    replay: 'reject' as const,
    adaptation: false,
  }
  return {
    stores,
    needs,
    organizationId: (await administration(stores).create('Test')).id,
    accounts: createAccountFlows({ ...needs, securityCodes: { issueFirst: async () => null } }),
    bootstrap: createBootstrap(needs),
    enroll: createEnroll(needs),
    profiles: createProfileFlows(needs),
    policies: createPolicyFlows(needs),
    async close() {
      await scoring.close()
      await stores.close()
      await fresh.drop()
    },
  }
}
export type RealFlows = Awaited<ReturnType<typeof startFlows>>

let users = 0
/** Creates an account of one person. */
export async function newUser({ accounts, organizationId }: RealFlows) {
  const who = { organizationId, userRef: `user-${users++}`, memberRef: null }
  await accounts.create(who, { type: null, displayName: null, withCode: false })
  return who
}
