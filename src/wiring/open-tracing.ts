import { hostname } from 'node:os'
import { ExpectedFault } from '../base/expected-fault.js'
import type { Answered } from '../http/server-types.js'
import type { Config } from '../process/config.js'
import type { Logger } from '../process/log.js'
import { version } from '../process/version.js'
import type { Scoring } from '../scoring/scoring.js'
import type { Tracing } from '../tracing/tracing.js'
import type { Stores } from './stores.js'

const LOG_EVERY_MS = 60_000

/** Starts tracing if it is configured. Its modules are loaded only here. */
export async function openTracing(
  { traces }: Config,
  log: Logger,
  basePathOf: (api: Answered['api']) => string,
): Promise<Tracing | null> {
  if (traces === null) return null
  const { startTracing } = await import('../tracing/tracing.js').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error
    throw new ExpectedFault(
      'TRACES_ENDPOINT needs the optional packages of Keystride: install it without --omit=optional',
    )
  })
  let loggedAt = Number.NEGATIVE_INFINITY
  return startTracing({
    ...traces,
    version: version(),
    instance: `${hostname()}:${process.pid}`,
    basePathOf,
    onError(error) {
      if (performance.now() - loggedAt < LOG_EVERY_MS) return
      loggedAt = performance.now()
      log.warn({ why: error.message }, 'the collector did not take traces: they are lost')
    },
  })
}

/** Parts without steps: clocks, settings of the process, and look-ups in memory. */
const UNTRACED: readonly (keyof Stores)[] = ['clock', 'checks', 'ports', 'keyRing', 'geography', 'databases']

/** Stores and scoring whose calls are steps of the request's trace. */
export function tracedParts(
  tracing: Tracing | null,
  { stores, scoring }: { readonly stores: Stores; readonly scoring: Scoring },
): { stores: Stores; scoring: Scoring } {
  if (tracing === null) return { stores, scoring }
  const parts = Object.entries(stores).map(([name, part]) => {
    const isPart = typeof part === 'object' && part !== null && !UNTRACED.includes(name as keyof Stores)
    return [name, isPart ? tracing.steps(name, part) : part]
  })
  // Sound: every part has the methods that it had.
  return { stores: Object.fromEntries(parts) as Stores, scoring: tracing.steps('scoring', scoring) }
}
