import type { Deployment } from '../deployment.js'
import { residentBytes } from '../machine.js'
import { startGenerators } from '../ratio/generators.js'
import { enroll, PRESSES } from '../ratio/people.js'
import { A_SESSION, mintIn, unitsFor } from '../ratio/sessions.js'

/** Memory of a process at one number of people who sign in there. */
export interface Resident {
  readonly people: number
  /** Of the larger of two processes, right after the load; null on a system that does not say. */
  readonly rss_mib: number | null
}

const PROCESSES = 2
const CONNECTIONS = 64
/** Of each person, each on a connection of either process: a process meets three people of four. */
const SESSIONS = 2
/** Bodies are made before they are sent: so many sessions' are 60 MB. */
const SESSIONS_AT_ONCE = 1500
const WITHIN_S = 120

/** Resident memory under verifies alone, as ever more people sign in. `first` is the first person's index. */
export async function measureMemory(
  deployment: Deployment,
  { people, first }: { readonly people: number; readonly first: number },
  say: (line: string) => void,
): Promise<Resident[]> {
  const { apikey, organizationId, stores, redisUrl } = deployment
  const service = await deployment.service({ processes: PROCESSES, scoring: 'inline', redis: redisUrl !== null })
  const generators = startGenerators(1)
  const mint = mintIn(stores.sessions, organizationId)
  const verify = async (units: Awaited<ReturnType<ReturnType<typeof unitsFor>>>) => {
    const path = '/core/users/{userRef}/verify'
    await generators.prepare({ units, apikey, method: 'POST', path, presses: PRESSES, reuse: false })
    const load = { port: service.port, connections: CONNECTIONS, warmUpS: 0, seconds: WITHIN_S, rate: null }
    const { statuses, answers } = await generators.go({ ...load, pids: [service.pid] })
    const well = statuses['200'] ?? 0
    if (well < 0.99 * answers) throw new Error(`${answers - well} of ${answers} verifies were refused`)
  }
  try {
    const found: Resident[] = []
    let from = 0
    for (const to of [Math.ceil(people / 10), Math.ceil(people / 2), people]) {
      say(`memory: enrolling people ${from + 1} to ${to} ...`)
      await enroll({ port: service.port, apikey, first: first + from, people: to - from })
      const next = unitsFor(to - from, first + from)
      for (let left = SESSIONS * (to - from); left > 0; left -= SESSIONS_AT_ONCE)
        await verify(await next(Math.min(left, SESSIONS_AT_ONCE), mint, A_SESSION))
      const largest = residentBytes(service.pid)?.largest ?? null
      found.push({ people: to, rss_mib: largest === null ? null : largest / 2 ** 20 })
      say(`  ${to.toLocaleString('en')}: ${found.at(-1)?.rss_mib?.toFixed(0) ?? '?'} MiB`)
      from = to
    }
    return found
  } finally {
    await generators.close()
    await service.stop()
  }
}
