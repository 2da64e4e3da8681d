import { type Histogram, histogram, type Pairs } from './histogram.js'

/** Kinds of request; `signin` is a whole sign-in, from its arrival to its verdict. */
export const OPERATIONS = ['signin', 'verify', 'bootstrap', 'code', 'create', 'enroll', 'set-code', 'remove'] as const
export type Operation = (typeof OPERATIONS)[number]

/** Further counters, by their names in the JSON report. */
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
  /** Answers by status, including unwanted ones. */
  readonly statuses: Map<string, number>
  /** Requests without an answer, by the error's code. */
  readonly transport: Map<string, number>
  /** Answers with a wanted status and a wrong body, by fault. */
  readonly wrong: Map<string, number>
  /** Answers with an unwanted status. */
  unwanted: number
}

/** Figures since the last snapshot, as plain values that can be sent between threads. */
export interface Seen {
  readonly operations: Partial<Record<Operation, OperationPlain>>
  readonly counts: Partial<Record<Count, number>>
  /** Delays of the load generator at the start of sign-ins, ms: not caused by the service. */
  readonly late: Pairs
  /** Waits of requests for a connection of the pool, ms. */
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

/** Counters and histograms that can be filled, taken and added. */
export interface Recorder {
  readonly late: Histogram
  readonly waited: Histogram
  of(operation: Operation): OperationSeen
  count(name: Count, more?: number): void
  counted(name: Count): number
  add(seen: Seen): void
  /** Returns the figures since the last call, and resets them. */
  take(): Seen
}

const bump = (map: Map<string, number>, name: string, more = 1) => map.set(name, (map.get(name) ?? 0) + more)
const plain = (map: ReadonlyMap<string, number>): Record<string, number> => Object.fromEntries(map)
/** Increments the count of a status, an error code or a fault. */
export const oneMore = (map: Map<string, number>, name: string) => void bump(map, name)

/** Histograms and counters of one thread, second or step; they add up without loss. */
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

/** Errors by kind; a request counts in at most one kind. */
interface Errors {
  /** No answer: refused or broken connections, time-outs. */
  readonly transport: number
  /** Requests shed by the service: 503 and 429. */
  readonly overloaded: number
  /** Answers with another unwanted status. */
  readonly unwanted: number
  /** Answers with a wanted status whose body contradicts itself or the request. */
  readonly wrong: number
  /** Never sent, because too many requests were waiting. */
  readonly dropped: number
  readonly all: number
  /** Requests sent or dropped: the denominator of `share`. */
  readonly of: number
}

/** All errors of a recorder, with their share. */
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
