import { type Deployment, partsOf, type Running } from '../shared/deployment.js'
import type { SignInUnit, Unit } from './generator.js'
import type { Generators, Measured } from './generators.js'
import { PRESSES } from './people.js'

/** Share of a counted turn's seconds that it runs before. */
export const WARM_UP_SHARE = 0.25
/** Above this share of answers other than 200 a turn is invalid, unless they are only a few in a short turn. */
const [ERRORS_MAX, HICCUP] = [0.01, 3]
/** Least share of scored attempts: a refused one is not scored, so it would be cheap. */
const JUDGED_MIN = 0.95

const PATHS = {
  read: '/core/read',
  verify: '/core/users/{userRef}/verify',
  peer: '/users/{userRef}/verify',
  spared: '/users/{userRef}/verify',
  signIn: '/core/users/{userRef}',
  peerSignIn: '/users/{userRef}',
} as const

export interface Load {
  readonly kind: keyof typeof PATHS
  readonly running: readonly Running[]
  readonly connections: number
  /** Requests per second; null for a closed loop. */
  readonly rate: number | null
  /** Requests, or whole sign-ins. */
  readonly sent: { readonly units: readonly Unit[] } | { readonly signIns: readonly SignInUnit[] }
}

interface Needs {
  readonly deployment: Deployment
  readonly generators: Generators
}

/** Prepares the generators' requests and runs one turn. Throws if answers of a counted turn are not verdicts. */
export async function runTurn(
  { generators, deployment }: Needs,
  load: Load,
  { seconds, isCounted }: { readonly seconds: number; readonly isCounted: boolean },
): Promise<Measured> {
  const { kind, running, connections, rate, sent } = load
  const to = { apikey: deployment.apikey, path: PATHS[kind] }
  if ('signIns' in sent) await generators.prepare({ kind: 'prepare-sign-ins', units: sent.signIns, ...to })
  else {
    const reuse = kind === 'read' || kind === 'spared'
    await generators.prepare({ kind: 'prepare', units: sent.units, ...to, method: 'POST', presses: PRESSES, reuse })
  }
  const warmUpS = isCounted ? seconds * WARM_UP_SHARE : 0
  const parts = partsOf(deployment, running)
  const found = await generators.go({ port: running[0]?.port ?? 0, parts, connections, rate, seconds, warmUpS })
  if (!isCounted) return found
  const good = found.statuses[200] ?? 0
  if (found.answers - good > Math.max(HICCUP, ERRORS_MAX * found.answers) || good === 0)
    throw new Error(`${kind}: answers were not 200 but ${JSON.stringify(found.statuses)}`)
  const judged = (found.actions.verified ?? 0) + (found.actions.rejected ?? 0)
  if (kind !== 'read' && judged < JUDGED_MIN * found.answers)
    throw new Error(`${kind}: too few attempts were scored: ${JSON.stringify(found.actions)}`)
  return found
}
