import { randomInt } from 'node:crypto'
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Job } from '../base/every.js'
import { fillMonth } from '../demo/fill.js'
import { madeUpGeography } from '../demo/locations.js'
import { attackDay, DAYS, startOfDay } from '../demo/month.js'
import { DEMO_ORGANIZATION } from '../domain/organization.js'
import { createAccountFlows } from '../flows/account/accounts.js'
import { createMadeUpPeople } from '../flows/account/made-up-people.js'
import { createSecurityCodeFlows } from '../flows/account/security-code.js'
import { createPatternMemory } from '../flows/attempt/pattern-memory.js'
import { createPersonCache } from '../flows/attempt/person-cache.js'
import { createVerify } from '../flows/attempt/verify.js'
import { createSettings } from '../flows/organization/settings.js'
import { newToken } from '../flows/process/tokens.js'
import { createEnroll } from '../flows/profile/enroll.js'
import { createBootstrap } from '../flows/session/bootstrap.js'
import type { Config } from '../process/config.js'
import type { Logger } from '../process/log.js'
import { createUuidV7 } from '../process/new-id.js'
import type { Scoring } from '../scoring/scoring.js'
import { startScoring } from './start-scoring.js'
import type { Stores } from './stores.js'

interface Needs {
  readonly config: Pick<Config, 'replay' | 'targets' | 'adaptation' | 'contextIndicators'>
  readonly stores: Stores
  readonly scoring: Scoring
  readonly organizationId: string
  readonly signal: AbortSignal
}

/** Enough memory for the people of the month. */
const CACHE_BYTES = 16 * 1024 * 1024
const DAY_MS = 86_400_000
const READ_UNTIL_MS = 9 * 3_600_000

/**
 * Fills an organization with the made-up month. The flows of the service write the month, with a clock of their own. An unfinished
 * month of an interrupted start is deleted first. No API starts this, because it writes attempts with a past time.
 */
export async function fillWithMonth(needs: Needs): Promise<void> {
  const { stores, organizationId, signal } = needs
  const { statistics, notifications, clock } = stores
  const now = clock.now()
  await deleteMadeUp(needs)
  await fillMonth({ organizationId, now, flowsAt: flowsBy(needs), signal })
  const from = startOfDay(now) - DAYS * DAY_MS
  await statistics.countAgain(organizationId, from)
  while (!signal.aborted && (await notifications.derive(from))) {
    // More is left.
  }
  await readOld(needs, attackDay(now) + READ_UNTIL_MS)
}

/** The flows by a clock, on one set of caches. */
function flowsBy({ config, stores, scoring }: Needs) {
  const shared = {
    ...stores,
    scoring,
    geography: madeUpGeography,
    ...createSettings({ ...stores, monotonicMs: () => performance.now() }),
    people: createPersonCache(CACHE_BYTES),
    memory: createPatternMemory(CACHE_BYTES),
    newToken,
    randomSeed: () => randomInt(2 ** 32),
    randomDigits: (count: number) => Array.from({ length: count }, () => randomInt(10)).join(''),
    forgetPerson: async () => {},
    replay: config.replay,
    targets: config.targets,
    adaptation: config.adaptation,
    contextIndicators: config.contextIndicators,
  }
  return (now: () => number) => {
    const needs = { ...shared, now, newId: createUuidV7(now) }
    const securityCodes = createSecurityCodeFlows(needs)
    return {
      accounts: createAccountFlows({ ...needs, securityCodes }),
      bootstrap: createBootstrap(needs),
      enroll: createEnroll(needs),
      verify: createVerify(needs),
      securityCodes,
    }
  }
}

async function deleteMadeUp(needs: Needs): Promise<void> {
  const { stores, organizationId } = needs
  const { remove } = flowsBy(needs)(stores.clock.now).accounts
  const people = createMadeUpPeople({ ...stores, removeAccount: remove })
  while ((await people.remove(organizationId)).left > 0) {
    // More is left.
  }
}

/** Marks the notifications before `before` as read, as by an operator in the morning after the attacks of the night. */
async function readOld({ stores: { notifications }, organizationId }: Needs, before: number): Promise<void> {
  const unread = { kind: null, read: false } as const
  const found = await notifications.page(organizationId, unread, { skip: 0, limit: 500 })
  for (const { id, at } of found.notifications) if (at < before) await notifications.markRead(organizationId, id)
}

const dueFile = (folder: string) => join(folder, 'demo-month-due')

/**
 * Schedules the month for a demo organization that this start has created. A file in the data folder marks the month as due until it
 * is complete, so that the start after an interrupted one fills the organization again.
 */
export const scheduleDemoMonth = (folder: string): void => writeFileSync(dueFile(folder), '', { mode: 0o600 })

export const isDemoMonthDue = (folder: string): boolean => existsSync(dueFile(folder))

/** Fills the demo organization in the background, if that is due. If `scoring` is null, starts and closes its own. */
export function beginDemoMonth(
  { config, stores, log }: { config: Config; stores: Stores; log: Logger },
  scoring: Scoring | null,
): Job | null {
  const { dataFolder } = config
  if (!stores.embedded || !config.demoMonth || !isDemoMonthDue(dataFolder)) return null
  const stopped = new AbortController()
  const fill = async () => {
    const demo = (await stores.organizations.list()).find(({ name }) => name === DEMO_ORGANIZATION)
    const scores = scoring ?? (await startScoring(config, log, 1))
    try {
      const began = performance.now()
      if (demo !== undefined)
        await fillWithMonth({ config, stores, scoring: scores, organizationId: demo.id, signal: stopped.signal })
      rmSync(dueFile(dataFolder), { force: true })
      const seconds = Math.round((performance.now() - began) / 1000)
      log.info({ seconds }, 'the demo organization has a month of made-up sign-ins')
    } finally {
      if (scoring === null) await scores.close()
    }
  }
  const filled = fill().catch((error: unknown) => {
    if (!stopped.signal.aborted)
      log.warn({ err: error }, 'the demo organization lacks its month: the next start fills it')
  })
  return {
    stop() {
      stopped.abort()
      return filled
    },
  }
}
