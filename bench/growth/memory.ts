import { enroll } from '../ratio/people.js'
import { unitsFor } from '../ratio/sessions.js'
import type { Deployment } from '../shared/deployment.js'
import { residentBytes } from '../shared/machine.js'
import { verifyMany } from './sign-ins.js'

/** Memory of a process after a number of people signed in. */
interface Resident {
  readonly people: number
  /** Resident memory of the larger of two processes, right after the load; null on a system without /proc. */
  readonly rss_mib: number | null
}

const PROCESSES = 2
/** Sessions of each person, each at a random one of two processes: a process sees three of four people. */
const SESSIONS = 2

/** Resident memory under verifies only, by number of people who signed in. `first` is the first person's index. */
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
