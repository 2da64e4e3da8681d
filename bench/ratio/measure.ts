import { setTimeout as delay } from 'node:timers/promises'
import { readTypingPattern } from '../../src/domain/typing-pattern.js'
import { type HttpServerChoice, loadProvider } from '../../src/http/provider.js'
import { readConfig } from '../../src/process/config.js'
import { encodeSample } from '../../src/scoring/sample.js'
import { freePort } from '../../src/storage/postgres/embedded/embedded-running.js'
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
  const all = await service(fronts, true)
  const [oneFront, withoutRedis] = [await service(1, true), await service(fronts, false)]
  const byProvider = provider === null ? [] : [await service(1, true, { HTTP_SERVER: provider })]
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
  const [peer, sparedPeer] = [await peerOf('peers/conventional.js'), await peerOf('peers/spared.js')]
  const peerStores = await openPeerStores(databaseUrl, redisUrl)
  const generators = startGenerators(fronts)
  const needs = { deployment, options, generators, peerStores, say }
  // Separate people for the service and the peer, so that neither changes the state of the other's.
  say(`enrolling ${2 * people} people ...`)
  const bodies = new Map<number, string[]>()
  await enroll({
    port: all.port,
    apikey,
    people: 2 * people,
    onStored(index, body) {
      if (index < people) bodies.set(index, [...(bodies.get(index) ?? []), body])
    },
  })
  for (const [index, typed] of bodies) await peerStores.enroll(userRef(index), typed.map(sampleOf))
  say(`idle for ${IDLE_S} s ...`)
  const idleCpuPercent = await idle(all)
  try {
    const turns = await rounds(needs, {
      all: [all],
      oneFront: [oneFront],
      withoutRedis: [withoutRedis],
      byProvider,
      readers,
      peer: [peer],
      sparedPeer: [sparedPeer],
    })
    return {
      turns,
      idleCpuPercent,
      resident: residentBytes(all.pid),
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

/** The compared services, each with its processes. `all` has all fronts and Redis; `byProvider` is empty without a provider. */
type Services = Readonly<
  Record<'all' | 'oneFront' | 'withoutRedis' | 'byProvider' | 'readers' | 'peer' | 'sparedPeer', readonly Running[]>
>
type Results = Record<Turn, Measured[]>
type RunTurn = (isFirst: boolean) => Promise<Measured>

async function rounds(needs: Needs, services: Services): Promise<Results> {
  const { options, say } = needs
  const taken = TURNS.filter((turn) => turn !== 'verify_by_provider_64' || services.byProvider.length > 0)
  const noResults = () => Object.fromEntries(TURNS.map((turn): [Turn, Measured[]] => [turn, []])) as Results
  const [first, counted] = [noResults(), noResults()]
  const turns = await turnsOf(needs, services, { first, counted })
  say('a first round that is not counted ...')
  for (const turn of taken) first[turn].push(await turns[turn](true))
  for (let round = 0; round < options.rounds; round++) {
    for (const turn of taken) {
      const found = await turns[turn](false)
      counted[turn].push(found)
      say(`round ${round + 1} of ${options.rounds}: ${turn} ${found.per_s}/s, p99 ${found.p99_ms} ms`)
    }
  }
  return counted
}

/** The turns, which take their rates from the results so far. */
async function turnsOf(
  needs: Needs,
  services: Services,
  { first, counted }: { readonly first: Results; readonly counted: Results },
): Promise<Record<Turn, RunTurn>> {
  const { options, peerStores } = needs
  const { organizationId, stores, withoutRedis } = needs.deployment
  const [units, peerUnits] = [unitsFor(options.people), unitsFor(options.people, options.people)]
  const reused = await units(Math.min(REUSED, options.people), peerStores.mint)
  const best = (turn: Turn) => Math.max(...[...counted[turn], ...first[turn]].map(({ per_s }) => per_s), FIRST.rate)
  const secondsOf = (isFirst: boolean) => (isFirst ? FIRST.seconds : options.seconds * (1 + WARM_UP_SHARE))
  const reuse =
    (kind: 'read' | 'spared', running: readonly Running[], connections = FEW): RunTurn =>
    (isFirst) =>
      runTurn(needs, { kind, running, connections, rate: null, units: reused }, isFirst)
  const verify =
    (
      running: readonly Running[],
      { connections = FEW, store = stores.sessions, rateOf = () => null as number | null } = {},
    ): RunTurn =>
    async (isFirst) => {
      const rate = rateOf()
      const perS = rate ?? best(connections === MANY ? 'verify_256' : 'verify_64')
      const each = rate === null ? A_SESSION : 1
      const count = Math.ceil((SPARE * secondsOf(isFirst) * perS) / each)
      const unused = await units(count, mintIn(store, organizationId), each)
      return runTurn(needs, { kind: 'verify', running, connections, rate, units: unused }, isFirst)
    }
  const askPeer: RunTurn = async (isFirst) => {
    const count = Math.ceil((SPARE * secondsOf(isFirst) * best('peer_64')) / A_SESSION)
    const unused = await peerUnits(count, mintIn(peerStores.sessions, organizationId))
    return runTurn(
      needs,
      { kind: 'peer', running: services.peer, connections: FEW, rate: null, units: unused },
      isFirst,
    )
  }
  return {
    read_only_64: reuse('read', services.readers),
    verify_64: verify(services.all),
    peer_64: askPeer,
    spared_peer_64: reuse('spared', services.sparedPeer),
    verify_one_front_64: verify(services.oneFront),
    verify_without_redis_64: verify(services.withoutRedis, { store: withoutRedis.sessions }),
    read_only_256: reuse('read', services.readers, MANY),
    verify_256: verify(services.all, { connections: MANY }),
    // The peer's highest rate: that of its closed loop in the same round.
    verify_at_peer_rate: verify(services.all, {
      rateOf: () => (counted.peer_64.at(-1) ?? first.peer_64[0])?.per_s ?? 1,
    }),
    verify_by_provider_64: verify(services.byProvider),
  }
}

const PATHS = {
  read: '/core/read',
  verify: '/core/users/{userRef}/verify',
  peer: '/users/{userRef}/verify',
  spared: '/users/{userRef}/verify',
} as const

interface Load {
  readonly kind: keyof typeof PATHS
  readonly running: readonly Running[]
  readonly connections: number
  /** Requests per second; null for a closed loop. */
  readonly rate: number | null
  readonly units: readonly Unit[]
}

/** Prepares the generators' requests and runs one turn. */
async function runTurn(
  { generators, options, deployment: { apikey } }: Needs,
  { kind, running, connections, rate, units }: Load,
  isFirst: boolean,
): Promise<Measured> {
  const reuse = kind === 'read' || kind === 'spared'
  await generators.prepare({ units, apikey, method: 'POST', path: PATHS[kind], presses: PRESSES, reuse })
  const seconds = isFirst ? FIRST.seconds : options.seconds
  const warmUpS = isFirst ? 0 : seconds * WARM_UP_SHARE
  const [port = 0, pids] = [running[0]?.port, running.map(({ pid }) => pid)]
  const found = await generators.go({ port, pids, connections, rate, seconds, warmUpS })
  if (isFirst) return found
  const good = found.statuses[200] ?? 0
  if (found.answers - good > Math.max(HICCUP, ERRORS_MAX * found.answers) || good === 0)
    throw new Error(`${kind}: answers were not 200 but ${JSON.stringify(found.statuses)}`)
  const judged = (found.actions.verified ?? 0) + (found.actions.rejected ?? 0)
  if (kind !== 'read' && judged < JUDGED_MIN * found.answers)
    throw new Error(`${kind}: too few attempts were scored: ${JSON.stringify(found.actions)}`)
  return found
}
