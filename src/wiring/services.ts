import { randomInt } from 'node:crypto'
import type { CoreServices } from '../api/core/core-route.js'
import type { DashboardServices } from '../api/dashboard/dashboard-route.js'
import type { LinkServices } from '../api/links/link-route.js'
import type { ErasedPerson } from '../domain/erased-person.js'
import { createAccountFlows } from '../flows/account/accounts.js'
import { createMadeUpPeople } from '../flows/account/made-up-people.js'
import { createPreferLanguage } from '../flows/account/preferred-language.js'
import { createSecurityCodeFlows } from '../flows/account/security-code.js'
import { createAlertFlows, type Reach } from '../flows/alert/alerts.js'
import type { Courier } from '../flows/alert/courier.js'
import { forgetPerson } from '../flows/attempt/forget-person.js'
import { createPatternMemory } from '../flows/attempt/pattern-memory.js'
import { createPersonCache } from '../flows/attempt/person-cache.js'
import { createExportFlows } from '../flows/insight/exports.js'
import { createInspect } from '../flows/insight/inspect.js'
import { createSeries } from '../flows/insight/series.js'
import { createKeyFlows } from '../flows/organization/keys.js'
import { createChangeLanguage } from '../flows/organization/organization-language.js'
import { createOrganizationFlows } from '../flows/organization/organizations.js'
import { createPolicyFlows } from '../flows/organization/policies.js'
import { createSettings, type SettingsMemory } from '../flows/organization/settings.js'
import { createTypingWordFlows } from '../flows/organization/typing-words.js'
import type { Health } from '../flows/process/health.js'
import { createSystem, type ProcessState } from '../flows/process/system.js'
import { newToken } from '../flows/process/tokens.js'
import { createPendingActionFlows } from '../flows/profile/pending-action.js'
import { createProfileLinkFlows } from '../flows/profile/profile-links.js'
import { createProfileFlows } from '../flows/profile/profiles.js'
import { createUserActions } from '../flows/profile/user-actions.js'
import { createBootstrap } from '../flows/session/bootstrap.js'
import type { JobQueue } from '../jobs/queue.js'
import type { Caches } from '../metrics/cache-metrics.js'
import type { Config } from '../process/config.js'
import type { Front } from '../process/front.js'
import { version } from '../process/version.js'
import { modelFile, wasmFile } from '../scoring/artifacts.js'
import { modelIdentity, openScorer, type Scorer, type ScorerIdentity } from '../scoring/scorer.js'
import type { Scoring } from '../scoring/scoring.js'
import { createPatternFlows } from './pattern-flows.js'
import type { Stores } from './stores.js'

/** The services that the handlers of all APIs use. */
export type Services = CoreServices & DashboardServices & LinkServices

const monotonicMs = () => performance.now()

/** Everything that the services are built from. */
interface Wired {
  readonly config: Config
  readonly stores: Stores
  readonly scoring: Scoring
  readonly health: Health
  /** Null if this process is the whole service. */
  readonly front: Front | null
  readonly jobs: Pick<JobQueue, 'send'>
  readonly courier: Courier
  readonly newId: () => string
  readonly watchCaches: (caches: Caches) => Caches
  /** Name and version of the HTTP server. */
  readonly httpServer: string
}

/** The flows of all APIs on open stores. */
export function servicesOf(wired: Wired): Services {
  const { config, stores, scoring, health, front, jobs, courier, newId, watchCaches } = wired
  const { now } = stores.clock
  const caches = watchCaches({
    people: createPersonCache(config.profileCacheBytes / 2),
    memory: createPatternMemory(config.profileCacheBytes / 2),
  })
  const needs = {
    ...stores,
    scoring,
    ...caches,
    forgetPerson: forgetInAll(caches, front),
    ...settingsOfAll(stores, front),
    jobs,
    newId,
    newToken,
    now,
    randomSeed: () => randomInt(2 ** 32),
    randomDigits: (count: number) => Array.from({ length: count }, () => randomInt(10)).join(''),
    replay: config.replay,
    targets: config.targets,
    trial: config.demo || stores.embedded,
    adaptation: config.adaptation,
    contextIndicators: config.contextIndicators,
    courier,
    reach: { hosts: config.alertHosts, closedPorts: stores.ports },
  }
  const securityCodes = createSecurityCodeFlows(needs)
  const accounts = createAccountFlows({ ...needs, securityCodes })
  return {
    ...dashboardServices(needs),
    ...systemServices(wired),
    bootstrap: createBootstrap(needs),
    accounts,
    madeUpPeople: createMadeUpPeople({ ...stores, removeAccount: accounts.remove }),
    profiles: createProfileFlows(needs),
    ...createPatternFlows({ ...needs, create: accounts.create }),
    settingsOf: needs.settingsOf,
    organizations: stores.organizations,
    securityCodes,
    changeLanguage: createChangeLanguage(needs),
    typingWords: createTypingWordFlows(needs),
    preferLanguage: createPreferLanguage(needs),
    pendingActions: createPendingActionFlows(needs),
    profileLinks: createProfileLinkFlows({ ...needs, createAccount: accounts.create }),
    linksUrl: `${config.publicUrl}/auth`,
    degraded: health.degraded,
    version: version(),
  }
}

/** Settings, cached in this process. A change is answered after the other processes have dropped theirs. */
function settingsOfAll(stores: Stores, front: Front | null): SettingsMemory {
  const memory = createSettings({ ...stores, monotonicMs })
  front?.onSettingsChanged((organizationId) => void memory.forgetSettings(organizationId))
  return {
    settingsOf: memory.settingsOf,
    async forgetSettings(organizationId) {
      await memory.forgetSettings(organizationId)
      await front?.settingsChanged(organizationId)
    },
  }
}

/** Removes a deleted person from the caches of this process, and of the others of this machine. */
function forgetInAll(caches: Caches, front: Front | null): (person: ErasedPerson) => Promise<void> {
  front?.onPersonErased((person) => forgetPerson(caches, person))
  return async (person) => {
    forgetPerson(caches, person)
    await front?.personErased(person)
  }
}

/** A kernel of the main thread, for traces. The first call opens it. */
export function openedOnce(): () => Scorer {
  let scorer: Scorer | undefined
  return () => {
    scorer ??= openScorer(wasmFile(), modelFile())
    return scorer
  }
}

/** The state of the deployment, and the build of this process. */
function systemServices({
  config: { roles },
  stores,
  health,
  front,
  httpServer,
}: Wired): Pick<DashboardServices, 'system' | 'build'> {
  let model: ScorerIdentity['model'] | undefined
  const alone = (): ProcessState[] => [{ index: 0, version: version(), uptimeS: process.uptime(), restarts: 0 }]
  return {
    system: createSystem({
      ...stores,
      degraded: health.degraded,
      processes: async () => (await front?.processes()) ?? alone(),
      monotonicMs,
    }),
    build: () => {
      model ??= modelIdentity(modelFile())
      return { version: version(), node: process.versions.node, http_server: httpServer, model, roles }
    },
  }
}

function dashboardServices(
  needs: Stores &
    Pick<DashboardServices, 'targets' | 'trial' | 'contextIndicators' | 'now'> & {
      readonly jobs: Pick<JobQueue, 'send'>
      readonly newId: () => string
      readonly courier: Courier
      readonly reach: Reach
      readonly forgetSettings: (organizationId: string) => Promise<void>
    },
): Omit<DashboardServices, 'system' | 'build' | 'madeUpPeople'> {
  const { directory, attemptLog, statistics, targets, trial, contextIndicators, now } = needs
  return {
    directory,
    rosters: needs.accounts,
    references: needs.profiles,
    attemptLog,
    statistics,
    usage: needs.usage,
    targets,
    trial,
    contextIndicators,
    now,
    policies: createPolicyFlows(needs),
    organizations: needs.organizations,
    keys: createKeyFlows({ apiKeys: needs.apiKeys, organizationFlows: createOrganizationFlows(needs), now }),
    alerts: createAlertFlows(needs),
    notifications: needs.notifications,
    series: createSeries(needs),
    exports: createExportFlows(needs),
    userActions: createUserActions({
      ...needs,
      profileFlows: createProfileFlows(needs),
      pendingActionFlows: createPendingActionFlows(needs),
    }),
    inspect: createInspect({ ...needs, scorer: openedOnce() }),
  }
}
