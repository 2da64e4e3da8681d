import { type Histogram, histogram, type Pairs } from './histogram.js'

/** What is asked of the service, by name; `signin` is the whole of a sign-in, from its arrival to its verdict. */
export const OPERATIONS = ['signin', 'verify', 'bootstrap', 'code', 'create', 'enroll', 'set-code', 'remove'] as const
export type Operation = (typeof OPERATIONS)[number]

/** What else is counted; the names are those of the JSON report. */
export const COUNTS = [
  'arrivals',
  'signins_begun',
  'signins_completed',
  'signins_dropped',
  'genuine_signins',
  'genuine_signins_authenticated',
  'genuine_patterns',
  'genuine_accepted',
  'genuine_challenged',
  'genuine_blocked',
  'genuine_called_bots',
  'genuine_called_replays',
  'impostor_patterns',
  'impostor_accepted',
  'codes',
  'codes_accepted',
  'attempts_refused',
  'members_locked',
  'people_enrolled',
  'enrolling_called_bots',
  'enrolling_called_replays',
  'nobody_free',
] as const
export type Count = (typeof COUNTS)[number]

interface OperationSeen {
  readonly latency: Histogram
  readonly service: Histogram
  /** Answers by status, those included that were not wanted. */
  readonly statuses: Map<string, number>
  /** Requests without an answer, by the error's code. */
  readonly transport: Map<string, number>
  /** Sound by its status and wrong by its body, by what is wrong. */
  readonly wrong: Map<string, number>
  /** Answers with a status that this request may not get. */
  unwanted: number
}

/** What was seen since the last snapshot, as plain values that cross a thread. */
export interface Seen {
  readonly operations: Partial<Record<Operation, OperationPlain>>
  readonly counts: Partial<Record<Count, number>>
  /** How late the load generator began things, ms: its own failing, not the service's. */
  readonly late: Pairs
  /** How long requests waited for a connection of the pool, ms. */
  readonly waited: Pairs
}
/** One kind of request in `Seen`. */
interface OperationPlain {
  readonly latency: Pairs
  readonly service: Pairs
  readonly statuses: Readonly<Record<string, number>>
  readonly transport: Readonly<Record<string, number>>
  readonly wrong: Readonly<Record<string, number>>
  readonly unwanted: number
}

/** Counts and histograms that are filled, taken and added up. */
export interface Recorder {
  readonly late: Histogram
  readonly waited: Histogram
  of(operation: Operation): OperationSeen
  count(name: Count, more?: number): void
  counted(name: Count): number
  add(seen: Seen): void
  /** All that was seen since the last time, forgotten here. */
  take(): Seen
}

const bump = (map: Map<string, number>, name: string, more = 1) => map.set(name, (map.get(name) ?? 0) + more)
const plain = (map: ReadonlyMap<string, number>): Record<string, number> => Object.fromEntries(map)
/** Counts one more of a status, an error's code or a fault. */
export const oneMore = (map: Map<string, number>, name: string) => void bump(map, name)

/** Histograms and counters of one thread, one second or one step: they add up without loss. */
export function recorder(): Recorder {
  const operations = new Map<Operation, OperationSeen>()
  const counts = new Map<string, number>()
  const [late, waited] = [histogram(), histogram()]
  const of = (operation: Operation): OperationSeen => {
    const known = operations.get(operation)
    if (known !== undefined) return known
    const made = {
      latency: histogram(),
      service: histogram(),
      statuses: new Map(),
      transport: new Map(),
      wrong: new Map(),
      unwanted: 0,
    }
    operations.set(operation, made)
    return made
  }
  return {
    late,
    waited,
    of,
    count: (name, more = 1) => void bump(counts, name, more),
    counted: (name) => counts.get(name) ?? 0,
    add(seen) {
      late.add(seen.late)
      waited.add(seen.waited)
      for (const [name, more] of Object.entries(seen.counts)) bump(counts, name, more)
      for (const name of OPERATIONS) {
        const theirs = seen.operations[name]
        if (theirs === undefined) continue
        const ours = of(name)
        ours.latency.add(theirs.latency)
        ours.service.add(theirs.service)
        ours.unwanted += theirs.unwanted
        for (const key of ['statuses', 'transport', 'wrong'] as const)
          for (const [value, more] of Object.entries(theirs[key])) bump(ours[key], value, more)
      }
    },
    take() {
      const seen: Seen = {
        operations: Object.fromEntries([...operations].map(([name, it]) => [name, plainOf(it)])),
        counts: plain(counts),
        late: late.pairs(),
        waited: waited.pairs(),
      }
      for (const it of operations.values()) empty(it)
      counts.clear()
      late.clear()
      waited.clear()
      return seen
    },
  }
}

const plainOf = ({ latency, service, statuses, transport, wrong, unwanted }: OperationSeen): OperationPlain => ({
  latency: latency.pairs(),
  service: service.pairs(),
  statuses: plain(statuses),
  transport: plain(transport),
  wrong: plain(wrong),
  unwanted,
})

function empty(seen: OperationSeen): void {
  seen.latency.clear()
  seen.service.clear()
  for (const map of [seen.statuses, seen.transport, seen.wrong]) map.clear()
  seen.unwanted = 0
}

const sum = (values: Iterable<number>) => [...values].reduce((total, value) => total + value, 0)

/** How many went wrong, by kind; each request is in one kind at the most. */
interface Errors {
  /** No answer: refused or broken connections, time-outs. */
  readonly transport: number
  /** The service said that it is not up to it now: 503 and 429. */
  readonly overloaded: number
  /** Another status than this request may get. */
  readonly unwanted: number
  /** The right status with a body that contradicts itself or the request. */
  readonly wrong: number
  /** Never sent, since too much waited already. */
  readonly dropped: number
  readonly all: number
  /** Requests sent, and those dropped: what errors are a share of. */
  readonly of: number
}

/** Everything that did not go as it should, with what it is a share of. */
export function errorsOf(seen: Recorder): Errors {
  const all = OPERATIONS.filter((name) => name !== 'signin').map((name) => seen.of(name))
  const transport = sum(all.flatMap((it) => [...it.transport.values()]))
  const overloaded = sum(all.flatMap((it) => [it.statuses.get('503') ?? 0, it.statuses.get('429') ?? 0]))
  const wrong = sum(all.flatMap((it) => [...it.wrong.values()]))
  const unwanted = sum(all.map((it) => it.unwanted)) - overloaded
  const dropped = seen.counted('signins_dropped')
  const answers = sum(all.flatMap((it) => [...it.statuses.values()]))
  return {
    transport,
    overloaded,
    unwanted,
    wrong,
    dropped,
    all: transport + overloaded + unwanted + wrong + dropped,
    of: answers + transport + dropped,
  }
}
