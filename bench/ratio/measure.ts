import { setTimeout as delay } from 'node:timers/promises'
import { readTypingPattern } from '../../src/domain/typing-pattern.js'
import { type HttpServerChoice, loadProvider } from '../../src/http/provider.js'
import { readConfig } from '../../src/process/config.js'
import { encodeSample } from '../../src/scoring/sample.js'
import { freePort } from '../../src/storage/postgres/embedded/embedded-running.js'
import type { SessionStore } from '../../src/storage/session.js'
import { openPeerStores, type PeerStores } from '../peers/peer-stores.js'
import type { Deployment, Running } from '../shared/deployment.js'
import { processorS, residentBytes } from '../shared/machine.js'
import type { Unit } from './generator.js'
import { type Generators, type Measured, startGenerators } from './generators.js'
import { bodyOf, enroll, PRESSES, userRef, VERIFIED_FROM } from './people.js'
import { A_SESSION, mintIn, unitsFor } from './sessions.js'

export interface RatioOptions {
  readonly rounds: number
  readonly seconds: number
  readonly people: number
  readonly fronts: number
  /** An HTTP server of `HTTP_SERVER` to compare with that of all other services; null makes no comparison. */
  readonly provider: HttpServerChoice | null
}

/** The compared loads, which take turns. A name ends with the number of connections. */
export const TURNS = [
  'read_only_64',
  'verify_64',
  'peer_64',
  'spared_peer_64',
  'verify_one_front_64',
  'verify_without_redis_64',
  'read_only_256',
  'verify_256',
  'verify_at_peer_rate',
  'verify_by_provider_64',
] as const
export type Turn = (typeof TURNS)[number]

export interface RatiosMeasured {
  readonly turns: Readonly<Record<Turn, readonly Measured[]>>
  /** Processor use of all processes of the idle service, in percent of one core; null except on Linux. */
  readonly idleCpuPercent: number | null
  /** Resident memory of the service's processes after all rounds. */
  readonly resident: { readonly all: number; readonly largest: number } | null
  readonly body_bytes: number
}

const WARM_UP_SHARE = 0.25
const IDLE_S = 10
const [FEW, MANY] = [64, 256]
/** A turn gets requests for this multiple of the best rate so far, so that it does not use them up. */
const SPARE = 1.6
/** The first round is longer and not counted: it compiles code, fills caches and finds the rates with thousands of verifies. */
const FIRST = { rate: 800, seconds: 8 }
/** Requests reused for the reader and the spared peer, which detect no replay. */
const REUSED = 1500
/** Above this share of answers other than 200 a turn is invalid, unless they are only a few in a short turn. */
const [ERRORS_MAX, HICCUP] = [0.01, 3]
/** Least share of scored attempts: a refused one is not scored, so it would be cheap. */
const JUDGED_MIN = 0.95

interface Needs {
  readonly deployment: Deployment
  readonly options: RatioOptions
  readonly generators: Generators
  readonly peerStores: PeerStores
  readonly say: (line: string) => void
}

/** Starts all compared services and measures them in turns. Throws without Redis, or if answers are not verdicts. */
export async function measureRatios(
  deployment: Deployment,
  options: RatioOptions,
  say: (line: string) => void,
): Promise<RatiosMeasured> {
  const { redisUrl, databaseUrl, apikey } = deployment
  if (redisUrl === null) throw new Error('no Redis: put redis-server on the PATH, or set REDIS_URL')
  const { fronts, people, provider } = options
  // With `node:http` only workers of a cluster share a port, and the readers are none.
  const nReaders = loadProvider(readConfig(process.env).httpServer).sha256 === null ? 1 : fronts
  say(`starting the service three times, ${nReaders} readers, the peers ...`)
  const service = (processes: number, redis: boolean, env = {}) =>
    deployment.service({ processes, scoring: 'inline', redis, env })
  const [two, one, plain] = [await service(fronts, true), await service(1, true), await service(fronts, false)]
  const other = provider === null ? null : await service(1, true, { HTTP_SERVER: provider })
  // The readers share a port, which is not possible with a port that the system chooses on listen.
  const PORT = String(await freePort())
  const readers: Running[] = []
  for (let i = 0; i < nReaders; i++) readers.push(await deployment.program('ratio/read-only-server.js', { PORT }))
  const peerOf = (file: string) =>
    deployment.program(file, {
      PROCESSES: String(fronts),
      REDIS_URL: redisUrl,
      APIKEY: apikey,
      ORGANIZATION: deployment.organizationId,
    })
  const [peer, spared] = [await peerOf('peers/conventional.js'), await peerOf('peers/spared.js')]
  const peerStores = await openPeerStores(databaseUrl, redisUrl)
  const generators = startGenerators(fronts)
  const needs = { deployment, options, generators, peerStores, say }
  // Separate people for the service and the peer, so that neither changes the state of the other's.
  say(`enrolling ${2 * people} people ...`)
  const bodies = new Map<number, string[]>()
  await enroll({
    port: two.port,
    apikey,
    people: 2 * people,
    onStored(index, body) {
      if (index < people) bodies.set(index, [...(bodies.get(index) ?? []), body])
    },
  })
  for (const [index, typed] of bodies) await peerStores.enroll(userRef(index), typed.map(sampleOf))
  say(`idle for ${IDLE_S} s ...`)
  const idleCpuPercent = await idle(two)
  try {
    const turns = await rounds(needs, {
      two: [two],
      one: [one],
      plain: [plain],
      readers,
      peer: [peer],
      spared: [spared],
      other: other === null ? [] : [other],
    })
    return {
      turns,
      idleCpuPercent,
      resident: residentBytes(two.pid),
      body_bytes: Buffer.byteLength(bodyOf(0, VERIFIED_FROM)),
    }
  } finally {
    await generators.close()
    await peerStores.close()
  }
}

function sampleOf(body: string): Uint8Array {
  const read = readTypingPattern(Buffer.from(body))
  if (!read.ok) throw new Error(read.message)
  return encodeSample(read.presses, read.pattern.agent.mode)
}

async function idle({ pid }: Running): Promise<number | null> {
  await delay(1000)
  const before = processorS(pid)
  await delay(1000 * IDLE_S)
  const after = processorS(pid)
  return before === null || after === null ? null : (100 * (after - before)) / IDLE_S
}

type Kind = 'read' | 'verify' | 'peer' | 'spared'

async function rounds(
  needs: Needs,
  under: Record<'two' | 'one' | 'plain' | 'readers' | 'peer' | 'spared' | 'other', readonly Running[]>,
): Promise<Record<Turn, Measured[]>> {
  const { two, one, plain, readers, peer, spared, other } = under
  const taken = TURNS.filter((turn) => turn !== 'verify_by_provider_64' || other.length > 0)
  const { options, say, deployment, peerStores } = needs
  const { sessions } = deployment.stores
  const besides = deployment.withoutRedis.sessions
  let isFirst = true
  const [start, units] = [taker(needs, () => isFirst), unitsFor(options.people)]
  const peerUnits = unitsFor(options.people, options.people)
  const reused = await units(Math.min(REUSED, options.people), peerStores.mint)
  const noneOf = () =>
    Object.fromEntries(TURNS.map((turn): [Turn, Measured[]] => [turn, []])) as Record<Turn, Measured[]>
  const [done, first] = [noneOf(), noneOf()]
  const verify = async (
    running: readonly Running[],
    connections: number,
    store: SessionStore,
    rate: number | null,
    best: number,
  ) => {
    const seconds = isFirst ? FIRST.seconds : options.seconds * (1 + WARM_UP_SHARE)
    const wanted = SPARE * seconds * (rate ?? best)
    const each = rate === null ? A_SESSION : 1
    return start(
      'verify',
      running,
      connections,
      rate,
      await units(Math.ceil(wanted / each), mintIn(store, deployment.organizationId), each),
    )
  }
  const askPeer = async (best: number) => {
    const seconds = isFirst ? FIRST.seconds : options.seconds * (1 + WARM_UP_SHARE)
    const mint = mintIn(peerStores.sessions, deployment.organizationId)
    return start('peer', peer, FEW, null, await peerUnits(Math.ceil((SPARE * seconds * best) / A_SESSION), mint))
  }
  const best = (turn: Turn) => Math.max(...[...done[turn], ...first[turn]].map(({ per_s }) => per_s), FIRST.rate)
  const turns: Record<Turn, () => Promise<Measured>> = {
    read_only_64: () => start('read', readers, FEW, null, reused),
    verify_64: () => verify(two, FEW, sessions, null, best('verify_64')),
    peer_64: () => askPeer(best('peer_64')),
    spared_peer_64: () => start('spared', spared, FEW, null, reused),
    verify_one_front_64: () => verify(one, FEW, sessions, null, best('verify_64')),
    verify_without_redis_64: () => verify(plain, FEW, besides, null, best('verify_64')),
    read_only_256: () => start('read', readers, MANY, null, reused),
    verify_256: () => verify(two, MANY, sessions, null, best('verify_256')),
    verify_at_peer_rate: () => {
      // The peer's highest rate: that of its closed loop in the same round.
      const rate = (done.peer_64.at(-1) ?? first.peer_64[0])?.per_s ?? 1
      return verify(two, FEW, sessions, rate, rate)
    },
    verify_by_provider_64: () => verify(other, FEW, sessions, null, best('verify_64')),
  }
  say('a first round that is not counted ...')
  for (const turn of taken) first[turn].push(await turns[turn]())
  isFirst = false
  for (let round = 0; round < options.rounds; round++) {
    for (const turn of taken) {
      const found = await turns[turn]()
      done[turn].push(found)
      say(`round ${round + 1} of ${options.rounds}: ${turn} ${found.per_s}/s, p99 ${found.p99_ms} ms`)
    }
  }
  return done
}

/** Prepares the generators' requests and runs one turn. */
function taker({ generators, options, deployment: { apikey } }: Needs, isFirst: () => boolean) {
  const PATHS = {
    read: '/core/read',
    verify: '/core/users/{userRef}/verify',
    peer: '/users/{userRef}/verify',
    spared: '/users/{userRef}/verify',
  } as const
  return async (
    kind: Kind,
    running: readonly Running[],
    connections: number,
    rate: number | null,
    units: readonly Unit[],
  ) => {
    await generators.prepare({
      units,
      apikey,
      method: 'POST',
      path: PATHS[kind],
      presses: PRESSES,
      reuse: kind === 'read' || kind === 'spared',
    })
    const seconds = isFirst() ? FIRST.seconds : options.seconds
    const warmUpS = isFirst() ? 0 : seconds * WARM_UP_SHARE
    const [port = 0, pids] = [running[0]?.port, running.map(({ pid }) => pid)]
    const found = await generators.go({ port, pids, connections, rate, seconds, warmUpS })
    if (isFirst()) return found
    const good = found.statuses[200] ?? 0
    if (found.answers - good > Math.max(HICCUP, ERRORS_MAX * found.answers) || good === 0)
      throw new Error(`${kind}: answers were not 200 but ${JSON.stringify(found.statuses)}`)
    const judged = (found.actions.verified ?? 0) + (found.actions.rejected ?? 0)
    if (kind !== 'read' && judged < JUDGED_MIN * found.answers)
      throw new Error(`${kind}: too few attempts were scored: ${JSON.stringify(found.actions)}`)
    return found
  }
}
