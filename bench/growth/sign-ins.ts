import { startGenerators } from '../ratio/generators.js'
import { bodyOf, PRESSES, userRef } from '../ratio/people.js'
import { A_SESSION, mintIn, type unitsFor } from '../ratio/sessions.js'
import { type Deployment, partsOf, type Running } from '../shared/deployment.js'
import { type Connection, openConnection, request } from '../shared/drive.js'
import { processorS } from '../shared/machine.js'
import { median, type Spread, spreadOf } from '../shared/spread.js'

/** Cost of a sign-in at one size. */
export interface Grown {
  readonly size: number
  readonly p50_ms: Spread
  /** Processor time of PostgreSQL per sign-in. */
  readonly postgres_us: Spread
}

type Units = ReturnType<typeof unitsFor>

interface Needs {
  readonly deployment: Deployment
  readonly service: Running
  /** Sessions of the people who verify. */
  readonly units: Units
}

/** Measures sequential sign-ins over HTTP, each a bootstrap and a verify, in rounds. */
export async function measureSignIns(
  { deployment, service, units }: Needs,
  size: number,
  { rounds, calls }: { readonly rounds: number; readonly calls: number },
): Promise<Grown> {
  const { apikey, postgresPid } = deployment
  const headers = { apikey, 'content-type': 'application/json' }
  const round = async (connection: Connection) => {
    const ask = (bytes: Buffer) =>
      new Promise<Buffer>((resolve, reject) => {
        connection.onLost(reject)
        connection.ask(bytes, (status, body) => {
          if (status === 200) resolve(body)
          else reject(new Error(`${status} ${body.toString()}`))
        })
      })
    const signIns = (await units(calls, async () => {}, 1)).map(({ person, ordinals }) => {
      const path = `/core/users/${userRef(person)}`
      return { path, bootstrap: request('GET', path, headers, ''), typed: bodyOf(person, ordinals[0] ?? 0) }
    })
    const before = processorS(postgresPid)
    const times: number[] = []
    for (const { path, bootstrap, typed } of signIns) {
      const begun = performance.now()
      const { sessionId } = JSON.parse((await ask(bootstrap)).toString()) as { sessionId: string }
      await ask(request('POST', `${path}/verify`, { ...headers, 'x-service-session': sessionId }, typed))
      times.push(performance.now() - begun)
    }
    const after = processorS(postgresPid)
    return { p50: median(times), postgres: (1e6 * ((after ?? Number.NaN) - (before ?? Number.NaN))) / calls }
  }
  // A new connection each time: the service has closed one that was idle while the stores were filled.
  const connection = await openConnection(service.port)
  // The first round is not measured: it reads pages that are not cached yet.
  await round(connection)
  const found: Awaited<ReturnType<typeof round>>[] = []
  for (let n = 0; n < rounds; n++) found.push(await round(connection))
  connection.close()
  return {
    size,
    p50_ms: spreadOf(found.map(({ p50 }) => p50)),
    postgres_us: spreadOf(found.map(({ postgres }) => postgres)),
  }
}

const CONNECTIONS = 64
/** Bodies are created before they are sent: those of this many sessions take 60 MB. */
const SESSIONS_AT_ONCE = 1500
const WITHIN_S = 120

/** Sends the verifies of many sessions, as fast as possible. Rejects if more than 1 % are not answered 200. */
export async function verifyMany({ deployment, service, units }: Needs, sessions: number): Promise<void> {
  const { apikey, organizationId, stores } = deployment
  const mint = mintIn(stores.sessions, organizationId)
  const generators = startGenerators(1)
  try {
    for (let left = sessions; left > 0; left -= SESSIONS_AT_ONCE) {
      const path = '/core/users/{userRef}/verify'
      const some = await units(Math.min(left, SESSIONS_AT_ONCE), mint, A_SESSION)
      await generators.prepare({
        kind: 'prepare',
        units: some,
        apikey,
        method: 'POST',
        path,
        presses: PRESSES,
        reuse: false,
      })
      const load = { port: service.port, connections: CONNECTIONS, warmUpS: 0, seconds: WITHIN_S, rate: null }
      const { statuses, answers } = await generators.go({ ...load, parts: partsOf(deployment, [service]) })
      const well = statuses['200'] ?? 0
      if (well < 0.99 * answers) throw new Error(`${answers - well} of ${answers} verifies were refused`)
    }
  } finally {
    await generators.close()
  }
}
