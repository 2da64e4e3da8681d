import { enroll } from '../ratio/people.js'
import { unitsFor } from '../ratio/sessions.js'
import type { Deployment } from '../shared/deployment.js'
import { residentBytes } from '../shared/machine.js'
import { verifyMany } from './verifies.js'

/** Memory of a process at one number of people who sign in there. */
export interface Resident {
  readonly people: number
  /** Of the larger of two processes, right after the load; null on a system that does not say. */
  readonly rss_mib: number | null
}

const PROCESSES = 2
/** Of each person, each on a connection of either process: a process meets three people of four. */
const SESSIONS = 2

/** Resident memory under verifies alone, as ever more people sign in. `first` is the first person's index. */
export async function measureMemory(
  deployment: Deployment,
  { people, first }: { readonly people: number; readonly first: number },
  say: (line: string) => void,
): Promise<Resident[]> {
  const { apikey, redisUrl } = deployment
  const service = await deployment.service({ processes: PROCESSES, scoring: 'inline', redis: redisUrl !== null })
  try {
    const found: Resident[] = []
    let from = 0
    for (const to of [Math.ceil(people / 10), Math.ceil(people / 2), people]) {
      say(`memory: enrolling people ${from + 1} to ${to} ...`)
      await enroll({ port: service.port, apikey, first: first + from, people: to - from })
      await verifyMany({ deployment, service, units: unitsFor(to - from, first + from) }, SESSIONS * (to - from))
      const largest = residentBytes(service.pid)?.largest ?? null
      found.push({ people: to, rss_mib: largest === null ? null : largest / 2 ** 20 })
      say(`  ${to.toLocaleString('en')}: ${found.at(-1)?.rss_mib?.toFixed(0) ?? '?'} MiB`)
      from = to
    }
    return found
  } finally {
    await service.stop()
  }
}
