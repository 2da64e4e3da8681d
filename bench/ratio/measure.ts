import { setTimeout as delay } from 'node:timers/promises'
import { readTypingPattern } from '../../src/domain/typing-pattern.js'
import { type HttpServerChoice, loadProvider } from '../../src/http/provider.js'
import { readConfig } from '../../src/process/config.js'
import { encodeSample } from '../../src/scoring/sample.js'
import { freePort } from '../../src/storage/postgres/embedded/embedded-running.js'
import { openPeerStores, type PeerStores } from '../peers/peer-stores.js'
import type { Deployment, Running } from '../shared/deployment.js'
import { fillHistories, type Histories } from '../shared/histories.js'
import { processorS, residentBytes } from '../shared/machine.js'
import { type Generators, type Measured, startGenerators } from './generators.js'
import { bodyOf, enroll, userRef, VERIFIED_FROM } from './people.js'
import { A_SESSION, mintIn, unitsFor } from './sessions.js'
import { type SignIns, signInsFor } from './sign-ins.js'
import { type Load, runTurn, WARM_UP_SHARE } from './turn.js'

export interface RatioOptions {
  readonly rounds: number
  readonly seconds: number
  readonly people: number
  readonly fronts: number
  /** People with a history who sign in; 0 leaves these turns out. */
  readonly signInPeople: number
  /** An HTTP server of `HTTP_SERVER` to compare with that of all other services; null makes no comparison. */
  readonly provider: HttpServerChoice | null
}

/** The turns of whole sign-ins. */
export const SIGN_IN_TURNS = [
  'signin_4',
  'signin_16',
  'signin_64',
  'signin_256',
  'signin_half',
  'peer_signin_64',
] as const
/**
 * The compared loads, which take turns. A name ends with the number of connections, or of people who sign in at once; `verify_16` has
 * 16 connections for each process.
 */
export const TURNS = [
  'read_only_64',
  'verify_64',
  'verify_16',
  'peer_64',
  'spared_peer_64',
  'verify_one_front_64',
  'verify_without_redis_64',
  'read_only_256',
  'verify_256',
  'verify_at_peer_rate',
  'verify_by_provider_64',
  ...SIGN_IN_TURNS,
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

const IDLE_S = 10
const [FEW, MANY] = [64, 256]
/** Connections of `verify_16` for each process. */
const SINGLE = 16
/** Successful attempts in the history of each person who signs in: as many as are compared with the next one. */
const ATTEMPTS = 48
/** People who sign in to the peer, as a share of those of the service: as its rate is of the service's, so that both meet a person again as often. */
const PEER_SHARE = 0.25
/** A turn gets requests for this multiple of the best rate so far, so that it does not use them up. */
const SPARE = 1.6
/** The first round is longer and not counted: it compiles code, fills caches and finds the rates with thousands of verifies. */
const FIRST = { rate: 800, seconds: 8 }
/** Requests reused for the reader and the spared peer, which detect no replay. */
const REUSED = 1500

interface Needs {
  readonly deployment: Deployment
  readonly options: RatioOptions
  readonly generators: Generators
  readonly peerStores: PeerStores
  /** Null without turns of sign-ins. */
  readonly histories: Histories | null
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
  const histories = await historiesOf(deployment, all, options, say)
  const needs = { deployment, options, generators, peerStores, histories, say }
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

/** People with a history, after those of the other turns; null if none sign in. */
async function historiesOf(
  deployment: Deployment,
  { port }: Running,
  { signInPeople, people }: RatioOptions,
  say: (line: string) => void,
): Promise<Histories | null> {
  if (signInPeople === 0) return null
  const all = Math.ceil((1 + PEER_SHARE) * signInPeople)
  return fillHistories(deployment, { port, people: all, attempts: ATTEMPTS, first: 2 * people, say })
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
  const left: readonly Turn[] = [
    ...(services.byProvider.length > 0 ? [] : (['verify_by_provider_64'] as const)),
    ...(needs.histories === null ? SIGN_IN_TURNS : []),
  ]
  const taken = TURNS.filter((turn) => !left.includes(turn))
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
      run(needs, { kind, running, connections, rate: null, sent: { units: reused } }, isFirst)
  const verify =
    (
      running: readonly Running[],
      { connections = FEW as number, store = stores.sessions, rateOf = () => null as number | null } = {},
    ): RunTurn =>
    async (isFirst) => {
      const rate = rateOf()
      const perS = rate ?? best(connections === MANY ? 'verify_256' : 'verify_64')
      const each = rate === null ? A_SESSION : 1
      const count = Math.ceil((SPARE * secondsOf(isFirst) * perS) / each)
      const unused = await units(count, mintIn(store, organizationId), each)
      return run(needs, { kind: 'verify', running, connections, rate, sent: { units: unused } }, isFirst)
    }
  const askPeer: RunTurn = async (isFirst) => {
    const count = Math.ceil((SPARE * secondsOf(isFirst) * best('peer_64')) / A_SESSION)
    const unused = await peerUnits(count, mintIn(peerStores.sessions, organizationId))
    return run(
      needs,
      { kind: 'peer', running: services.peer, connections: FEW, rate: null, sent: { units: unused } },
      isFirst,
    )
  }
  const latest = (turn: Turn) => (counted[turn].at(-1) ?? first[turn][0])?.per_s ?? 1
  return {
    read_only_64: reuse('read', services.readers),
    verify_64: verify(services.all),
    verify_16: verify(services.all, { connections: SINGLE * options.fronts }),
    peer_64: askPeer,
    spared_peer_64: reuse('spared', services.sparedPeer),
    verify_one_front_64: verify(services.oneFront),
    verify_without_redis_64: verify(services.withoutRedis, { store: withoutRedis.sessions }),
    read_only_256: reuse('read', services.readers, MANY),
    verify_256: verify(services.all, { connections: MANY }),
    // The peer's highest rate: that of its closed loop in the same round.
    verify_at_peer_rate: verify(services.all, { rateOf: () => latest('peer_64') }),
    verify_by_provider_64: verify(services.byProvider),
    ...signInTurns(needs, services, { best, latest, secondsOf }),
  }
}

const run = (needs: Needs, load: Load, isFirst: boolean): Promise<Measured> =>
  runTurn(needs, load, { seconds: isFirst ? FIRST.seconds : needs.options.seconds, isCounted: !isFirst })

interface Rates {
  /** The best rate of a turn so far, and the latest. */
  best(turn: Turn): number
  latest(turn: Turn): number
  secondsOf(isFirst: boolean): number
}

/** Whole sign-ins: closed loops, and an open loop at half of the rate of 64 at once. */
function signInTurns(
  needs: Needs,
  services: Services,
  { best, latest, secondsOf }: Rates,
): Record<(typeof SIGN_IN_TURNS)[number], RunTurn> {
  const { histories, options } = needs
  const none: SignIns = () => []
  const draw = histories === null ? () => none : signInsFor(histories)
  const { signInPeople } = options
  const ours = draw({ first: 0, people: signInPeople })
  const ofPeer = draw({ first: signInPeople, people: (histories?.people ?? 0) - signInPeople })
  const signIn =
    (connections: number, rateOf = () => null as number | null): RunTurn =>
    (isFirst) => {
      const rate = rateOf()
      const signIns = ours(Math.ceil(SPARE * secondsOf(isFirst) * (rate ?? best('signin_64'))))
      return run(needs, { kind: 'signIn', running: services.all, connections, rate, sent: { signIns } }, isFirst)
    }
  return {
    signin_4: signIn(4),
    signin_16: signIn(16),
    signin_64: signIn(FEW),
    signin_256: signIn(MANY),
    signin_half: signIn(FEW, () => latest('signin_64') / 2),
    peer_signin_64: (isFirst) => {
      const signIns = ofPeer(Math.ceil(SPARE * secondsOf(isFirst) * best('peer_signin_64')))
      return run(
        needs,
        { kind: 'peerSignIn', running: services.peer, connections: FEW, rate: null, sent: { signIns } },
        isFirst,
      )
    },
  }
}
