import { randomInt } from 'node:crypto'
import type { CoreServices } from './api/core/core-route.js'
import type { DashboardServices } from './api/dashboard/dashboard-route.js'
import type { LinkServices } from './api/links/link-route.js'
import type { Config } from './config.js'
import { createAccountFlows } from './flows/accounts.js'
import { createAlertFlows, type Reach } from './flows/alerts.js'
import { createBootstrap } from './flows/bootstrap.js'
import type { Courier } from './flows/courier.js'
import { createEnroll } from './flows/enroll.js'
import { createExportFlows } from './flows/exports.js'
import type { Health } from './flows/health.js'
import { createInspect } from './flows/inspect.js'
import { createKnownPeople } from './flows/known-people.js'
import { createLegacyLink } from './flows/legacy-link.js'
import { createLegacyVerify } from './flows/legacy-verify.js'
import { createLinkPage } from './flows/link-page.js'
import { createChangeLanguage } from './flows/organization-language.js'
import { createPendingActionFlows } from './flows/pending-action.js'
import { createPolicyFlows } from './flows/policies.js'
import { createPreferLanguage } from './flows/preferred-language.js'
import { createProfileLinkFlows } from './flows/profile-links.js'
import { createProfileFlows } from './flows/profiles.js'
import { createSecurityCodeFlows } from './flows/security-code.js'
import { createSeries } from './flows/series.js'
import { createSettings, type SettingsMemory } from './flows/settings.js'
import { newToken } from './flows/tokens.js'
import { createTypingWordFlows } from './flows/typing-words.js'
import { createUserActions } from './flows/user-actions.js'
import { createVerify } from './flows/verify.js'
import { createVerifyCode } from './flows/verify-code.js'
import type { Front } from './front.js'
import type { JobQueue } from './jobs/queue.js'
import type { Stores } from './open-stores.js'
import { modelFile, wasmFile } from './scoring/artifacts.js'
import { openScorer, type Scorer } from './scoring/scorer.js'
import type { Scoring } from './scoring/scoring.js'
import { version } from './version.js'

/** What the handlers of all APIs are given. */
export type Services = CoreServices & DashboardServices & LinkServices

const monotonicMs = () => performance.now()

/** The flows of all APIs on open stores. */
export function servicesOf(
  config: Config,
  stores: Stores,
  scoring: Scoring,
  health: Health,
  front: Front | null,
  jobs: JobQueue,
  courier: Courier,
  newId: () => string,
): Services {
  const { now } = stores.clock
  const needs = {
    ...stores,
    scoring,
    people: createKnownPeople(config.profileCacheBytes),
    ...settingsOfAll(stores, front),
    jobs,
    newId,
    newToken,
    now,
    randomSeed: () => randomInt(2 ** 32),
    randomDigits: (count: number) => Array.from({ length: count }, () => randomInt(10)).join(''),
    replay: config.replay,
    targets: config.targets,
    adaptation: config.adaptation,
    contextIndicators: config.contextIndicators,
    courier,
    reach: { hosts: config.alertHosts, closedPorts: stores.ports },
  }
  const securityCodes = createSecurityCodeFlows(needs)
  const accounts = createAccountFlows({ ...needs, securityCodes })
  const enroll = createEnroll(needs)
  const verify = createVerify(needs)
  const verifyCode = createVerifyCode(needs)
  return {
    ...dashboardServices(needs),
    bootstrap: createBootstrap(needs),
    accounts,
    profiles: createProfileFlows(needs),
    enroll,
    verify,
    settingsOf: needs.settingsOf,
    organizations: stores.organizations,
    verifyCode,
    securityCodes,
    changeLanguage: createChangeLanguage(needs),
    typingWords: createTypingWordFlows(needs),
    preferLanguage: createPreferLanguage(needs),
    legacyVerify: createLegacyVerify({ ...needs, create: accounts.create, enroll, verify, verifyCode }),
    legacyLink: createLegacyLink({ ...needs, enroll }),
    pendingActions: createPendingActionFlows(needs),
    profileLinks: createProfileLinkFlows({ ...needs, createAccount: accounts.create }),
    linkPage: createLinkPage(needs),
    linksUrl: `${config.publicUrl}/auth`,
    degraded: health.degraded,
    version: version(),
  }
}

/** Settings as this process remembers them; whoever changes one is answered when the other processes know. */
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

/** A kernel of the main thread's own, for traces: opened with the first one. */
export function openedOnce(): () => Scorer {
  let scorer: Scorer | undefined
  return () => {
    scorer ??= openScorer(wasmFile(), modelFile())
    return scorer
  }
}

function dashboardServices(
  needs: Stores &
    Pick<DashboardServices, 'targets' | 'contextIndicators' | 'now'> & {
      readonly jobs: JobQueue
      readonly newId: () => string
      readonly courier: Courier
      readonly reach: Reach
      readonly forgetSettings: (organizationId: string) => Promise<void>
    },
): DashboardServices {
  const { directory, attemptLog, statistics, targets, contextIndicators, now } = needs
  return {
    directory,
    rosters: needs.accounts,
    references: needs.profiles,
    attemptLog,
    statistics,
    usage: needs.usage,
    targets,
    contextIndicators,
    now,
    policies: createPolicyFlows(needs),
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
