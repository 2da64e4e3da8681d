import { setTimeout as delay } from 'node:timers/promises'
import { Refusal } from '../domain/refusal.js'
import type { OrganizationFlows } from '../flows/organization/organizations.js'
import type { Config } from '../process/config.js'
import { jsonLog, toDescriptor } from '../process/log.js'
import type { SchemaChoice, Stores } from '../wiring/open-stores.js'

/** What a command works on. */
interface Opened {
  readonly stores: Stores
  readonly config: Config
  readonly flows: OrganizationFlows
}

/** Runs a command's work on open stores and closes them; what goes wrong is one clear line and exit status 1. */
export type Administer = (
  work: (opened: Opened) => Promise<void>,
  options?: { readonly schema?: SchemaChoice; readonly redis?: boolean },
) => Promise<void>

/** Administration on the stores that `env` names; Redis is left alone unless `redis` is true. Only `keystride migrate` changes the schema. */
export const administerFrom =
  (env: NodeJS.ProcessEnv): Administer =>
  (work, { schema = 'exact', redis = false } = {}) =>
    run(async () => {
      // Imported here: help, completion and wrong use need no store, and these modules take longer than all of that.
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

/** Wrong use that the parser cannot see, such as two options that exclude each other. */
export class WrongUse extends Error {}

/** What goes wrong is one clear line and exit status 1; 2 where the command was used wrongly. */
export async function run(work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    process.stderr.write(`keystride: ${error instanceof Error ? error.message : String(error)}\n`)
    process.exitCode = error instanceof WrongUse ? 2 : 1
  }
}

/** Throws where there is no such organization. */
export async function known(flows: OrganizationFlows, organizationId: string): Promise<void> {
  const organizations = await flows.list()
  if (!organizations.some(({ id }) => id === organizationId)) throw new Error('there is no organization of that id')
}

/** Repeats work that may be done twice while a store is not ready, 20 times at the most. */
export async function patiently<T>(work: () => Promise<T>): Promise<T> {
  for (let left = 20; ; left--) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof Refusal) || left === 0) throw error
      await delay(100)
    }
  }
}

/** One line, or several, on standard output. */
export const print = (text: string) => process.stdout.write(`${text}\n`)
/** Epoch milliseconds as ISO 8601. */
export const iso = (ms: number) => new Date(ms).toISOString()
/** Warnings and worse, on standard error. */
export const quietLog = () => jsonLog('warn', toDescriptor(2))
