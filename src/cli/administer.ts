import { setTimeout as delay } from 'node:timers/promises'
import { Refusal } from '../domain/refusal.js'
import type { OrganizationFlows } from '../flows/organization/organizations.js'
import type { Config } from '../process/config.js'
import { jsonLog, toDescriptor } from '../process/log.js'
import type { SchemaChoice } from '../wiring/open-database.js'
import type { Stores } from '../wiring/stores.js'

/** The open stores of a command. */
export interface Opened {
  readonly stores: Stores
  readonly config: Config
  readonly flows: OrganizationFlows
}

/** Runs a command's work on open stores and closes them. An error prints one line and sets exit status 1. */
export type Administer = (
  work: (opened: Opened) => Promise<void>,
  options?: { readonly schema?: SchemaChoice; readonly redis?: boolean },
) => Promise<void>

/** Runs work on the stores that `env` names. Redis is opened only if `redis` is true. Only `keystride migrate` changes the schema. */
export const administerFrom =
  (env: NodeJS.ProcessEnv): Administer =>
  (work, { schema = 'exact', redis = false } = {}) =>
    run(async () => {
      // Imported late: help, completion and usage errors need no store, and these modules load slowly.
      const [{ readConfig }, { administration, openStores }] = await Promise.all([
        import('../process/config.js'),
        import('../wiring/open-stores.js'),
      ])
      const config = readConfig(env)
      const stores = await openStores(config, quietLog(), { redis, schema })
      try {
        await work({ stores, config, flows: administration(stores) })
      } finally {
        await stores.close()
      }
    })

/** A usage error that the parser cannot detect, such as two options that exclude each other. */
export class WrongUse extends Error {}

/** Runs the work. An error prints one line and sets exit status 1, or 2 for a usage error. */
export async function run(work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    process.stderr.write(`keystride: ${error instanceof Error ? error.message : String(error)}\n`)
    process.exitCode = error instanceof WrongUse ? 2 : 1
  }
}

/** Throws if there is no such organization. */
export async function requireOrganization(flows: OrganizationFlows, organizationId: string): Promise<void> {
  const organizations = await flows.list()
  if (!organizations.some(({ id }) => id === organizationId)) throw new Error('there is no organization of that id')
}

/** Retries idempotent work while a store refuses, 20 times at most. */
export async function withRetries<T>(work: () => Promise<T>): Promise<T> {
  for (let left = 20; ; left--) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof Refusal) || left === 0) throw error
      await delay(100)
    }
  }
}

/** Prints one or more lines on standard output. */
export const print = (text: string) => process.stdout.write(`${text}\n`)
/** Epoch milliseconds as ISO 8601. */
export const iso = (ms: number) => new Date(ms).toISOString()
/** Logs warnings and errors to standard error. */
export const quietLog = () => jsonLog('warn', toDescriptor(2))
