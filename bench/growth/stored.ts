import { enroll } from '../ratio/people.js'
import { A_SESSION, unitsFor } from '../ratio/sessions.js'
import type { Deployment } from '../shared/deployment.js'
import { fillDatabase } from './filled.js'
import { type Grown, measureSignIns, verifyMany } from './sign-ins.js'

/** People who verify: more than a cache of one megabyte holds, so that each is read from the stores. */
export const VERIFIERS = 200
/** People who type many times. */
const TYPISTS = 100

interface Rounds {
  readonly rounds: number
  readonly calls: number
}

type Say = (line: string) => void

/** Measures sign-ins at each size: first people are added, then authentications. */
export async function measureStored(
  deployment: Deployment,
  { people, authentications, ...rounds }: Rounds & { readonly people: number; readonly authentications: number },
  say: Say,
): Promise<{ readonly people: Grown[]; readonly authentications: Grown[] }> {
  const { apikey, organizationId, databaseUrl, redisUrl } = deployment
  const service = await deployment.service({
    processes: 1,
    scoring: 'inline',
    redis: redisUrl !== null,
    env: { PROFILE_CACHE_MB: '1' },
  })
  say(`enrolling ${VERIFIERS} people through the service ...`)
  await enroll({ port: service.port, apikey, people: VERIFIERS })
  const needs = { deployment, service, units: unitsFor(VERIFIERS) }
  const grow = async (what: 'people' | 'authentications', most: number): Promise<Grown[]> => {
    say(`${what} ...`)
    const steps: Grown[] = []
    let from = 1
    for (const to of [Math.ceil(most / 1000), Math.ceil(most / 100), Math.ceil(most / 10), most]) {
      const none = [1, 0] as const
      const users = what === 'people' ? ([from, to] as const) : ([people + 1, people] as const)
      const attempts = what === 'people' ? none : ([from, to] as const)
      await fillDatabase(databaseUrl, organizationId, { users, attempts, marks: true, say })
      from = to + 1
      steps.push(told(await measureSignIns(needs, to, rounds), say))
    }
    return steps
  }
  return { people: await grow('people', people), authentications: await grow('authentications', authentications) }
}

/**
 * Measures sign-ins of people by their number of earlier typings. Unlike the generator's marks, those of one person
 * sometimes share a band. The verifies before each measurement have put the people into the process's cache. `first` is the first
 * person's index.
 */
export async function measureTypings(
  deployment: Deployment,
  { typings, first, ...rounds }: Rounds & { readonly typings: number; readonly first: number },
  say: Say,
): Promise<Grown[]> {
  const { apikey, redisUrl } = deployment
  const service = await deployment.service({ processes: 1, scoring: 'inline', redis: redisUrl !== null })
  try {
    say(`typings of one person ...`)
    await enroll({ port: service.port, apikey, first, people: TYPISTS })
    const needs = { deployment, service, units: unitsFor(TYPISTS, first) }
    const steps: Grown[] = []
    let done = 0
    for (const to of [typings / 30, typings / 10, typings / 3, typings].map(Math.ceil)) {
      await verifyMany(needs, Math.ceil((TYPISTS * (to - done)) / A_SESSION))
      done = to
      steps.push(told(await measureSignIns(needs, to, rounds), say))
    }
    return steps
  } finally {
    await service.stop()
  }
}

function told(step: Grown, say: Say): Grown {
  say(`  ${step.size.toLocaleString('en')}: ${step.p50_ms.median.toFixed(2)} ms`)
  return step
}
