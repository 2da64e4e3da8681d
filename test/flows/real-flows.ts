import { v7 } from 'uuid'
import { DEFAULT_TARGETS } from '../../src/domain/biometric-status.js'
import type { ErasedPerson } from '../../src/domain/erased-person.js'
import { createAccountFlows } from '../../src/flows/account/accounts.js'
import { forgetPerson } from '../../src/flows/attempt/forget-person.js'
import { createPatternMemory } from '../../src/flows/attempt/pattern-memory.js'
import { createPersonCache } from '../../src/flows/attempt/person-cache.js'
import { createSettings } from '../../src/flows/organization/settings.js'
import { newToken } from '../../src/flows/process/tokens.js'
import { createEnroll } from '../../src/flows/profile/enroll.js'
import { createProfileFlows } from '../../src/flows/profile/profiles.js'
import { createBootstrap } from '../../src/flows/session/bootstrap.js'
import { readConfig } from '../../src/process/config.js'
import { jsonLog } from '../../src/process/log.js'
import { administration, openStores } from '../../src/wiring/open-stores.js'
import { startScoring } from '../../src/wiring/start-scoring.js'
import { sharedDatabase } from '../servers/database.js'

export const HINTS = { language: null, acceptLanguage: null }

let shared: ReturnType<typeof open> | undefined
async function open() {
  const { url } = await sharedDatabase()
  const key = Buffer.alloc(32, 7).toString('base64')
  const config = readConfig({ DATABASE_URL: url, ENCRYPTION_KEY: key, STORE_PATIENCE: '10' })
  const log = jsonLog('error')
  return { stores: await openStores(config, log, { redis: false }), scoring: await startScoring(config, log) }
}

/** Stores and the shipped scoring, which all files of a worker share, and flows on them, with a new organization. */
export async function startFlows() {
  shared ??= open()
  const { stores, scoring } = await shared
  /** The needs of the flows of another process: with its own caches. */
  const needsOfProcess = () => {
    const { settingsOf, forgetSettings } = createSettings({ ...stores, monotonicMs: () => performance.now() })
    const caches = { people: createPersonCache(1e6), memory: createPatternMemory(1e6) }
    return {
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
  }
  const needs = needsOfProcess()
  return {
    stores,
    needs,
    needsOfProcess,
    organizationId: (await administration(stores).create('Test')).id,
    accounts: createAccountFlows({ ...needs, securityCodes: { issueFirst: async () => null } }),
    bootstrap: createBootstrap(needs),
    enroll: createEnroll(needs),
    profiles: createProfileFlows(needs),
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
