import { z } from 'zod'
import { OPERATIONS } from './recorder.js'

const ms = z.number().nullable()
const count = z.int().min(0)
const shareOf = z.number().min(0).max(1).nullable()
const Latency = z
  .object({ p50: ms, p90: ms, p99: ms, 'p99.9': ms, max: ms, mean: ms })
  .describe('milliseconds; null where nothing was measured')

const OperationReport = z.object({
  answers: count.describe('answers of every status'),
  statuses: z.record(z.string(), count).describe('answers by HTTP status'),
  transport: z.record(z.string(), count).describe('requests without an answer, by what went wrong'),
  wrong: z
    .record(z.string(), count)
    .describe('answers with the wanted status that contradict themselves or the request'),
  latency_ms: Latency.describe(
    'from the intended start to the whole answer, of answers with a wanted status and of requests given up at the time-out',
  ),
  service_ms: Latency.describe(
    'from the moment the request had its connection: what a tool that leaves waiting out would show',
  ),
  histogram: z.string().describe('latency in microseconds as an HdrHistogram (V2, compressed, base64)'),
})

const Second = z.object({
  second: count.describe('from 0, after the warm-up; answers belong to the second they came in'),
  arrivals: count,
  completed: count,
  errors: count,
  p50_ms: ms.describe('verify'),
  p99_ms: ms.describe('verify'),
  signin_p99_ms: ms.describe('whole sign-in'),
})

const ServiceSecond = z.object({
  second: count.describe('from 0, after the warm-up'),
  cpu_cores: z.number().describe('processor used by all processes of the service, in cores'),
  in_flight: count.describe('requests begun and not yet answered, at its end'),
  waiting: count.describe('requests that wait for others to end, at its end'),
  shed: count.describe('requests sent away in it because more was asked than could be done'),
  verifies: count.describe('answered in it, by the count of the service'),
  verify_p99_ms: ms.describe('from the head of a request to its answer, out of the buckets of its histogram'),
})

const Health = z.object({
  sound: z.boolean().describe('false: the load generator was strained, and the figures are not of the service alone'),
  reasons: z.array(z.string()),
  late_p99_ms: ms.describe('how late arrivals were begun by the generator; null in a closed loop'),
  waited_p99_ms: ms.describe('how long requests waited for one of the connections'),
  busiest_worker: z.number().describe('share of the time that the busiest event loop worked, 0 to 1'),
  loop_delay_p99_ms: z.number(),
  generator_cores: z.number().describe('processor the generator used, in cores'),
  machine_busy: z.number().describe("share of the generator's machine that was busy, 0 to 1, whoever used it"),
})

/** One rate, or one closed loop. */
export const StepReport = z.object({
  rate: z.number().nullable().describe('sign-ins a second that were to begin; null in the closed loop'),
  seconds: z.number().describe('measured time, the warm-up not in it'),
  warm_up_s: z.number(),
  arrivals: count,
  arrivals_per_s: z.number(),
  goodput_per_s: z
    .number()
    .describe('sign-ins a second that came to a verdict without an error, until the last answer'),
  requests_per_s: z.number(),
  errors: z.object({
    share: z.number().describe('of all requests'),
    transport: count.describe('connections refused or broken, time-outs'),
    overloaded: count.describe('503 and 429'),
    unwanted: count.describe('any other status that the request may not get'),
    wrong: count,
    dropped: count.describe('never sent, since too many waited already'),
  }),
  operations: z
    .partialRecord(z.enum(OPERATIONS), OperationReport)
    .describe('signin is the whole, the others its requests'),
  accuracy: z.object({
    genuine_signins: count,
    genuine_signins_authenticated: count.describe('by typing, typing again, or a security code'),
    genuine_patterns: count.describe('patterns that were judged; refused ones, of locked people, are not'),
    genuine_accepted: count,
    genuine_challenged: count,
    genuine_blocked: count,
    genuine_called_bots: count,
    genuine_called_replays: count,
    false_reject_share: shareOf.describe('genuine patterns not authenticated, of those judged'),
    impostor_patterns: count,
    impostor_accepted: count,
    false_accept_share: shareOf.describe('impostors authenticated, of those judged'),
    codes: count,
    codes_accepted: count,
    attempts_refused: count.describe('not judged, since the member or session was locked'),
    members_locked: count,
    people_enrolled: count,
    enrolling_called_bots: count,
    enrolling_called_replays: count,
  }),
  health: Health,
  passed: z.boolean().nullable().describe('whether a step of a ramp held its bounds; null outside a ramp'),
  series: z.array(Second),
  service_series: z
    .array(ServiceSecond)
    .describe('the same seconds by the metrics of the service; empty where they could not be read'),
})
export type StepReport = z.infer<typeof StepReport>

/** The whole report: what `--json` writes and the HTML page is drawn from. */
export const Report = z.object({
  schema: z.literal('keystride-load/1'),
  started_at: z.iso.datetime(),
  ended_at: z.iso.datetime(),
  ended: z.enum(['complete', 'interrupted']).describe('interrupted: by Ctrl-C, the figures are those until then'),
  service: z.object({
    url: z.string(),
    version: z.string(),
    own: z.boolean().describe('started by the load tester, on the same machine'),
    stores: z.string().nullable().describe('what it keeps its data in, where known'),
    metrics: z.string().nullable().describe('where its metrics were read; null where they could not be'),
    http_provider: z.string().nullable().describe('what its HTTP runs on, where /metrics says so'),
  }),
  machine: z.object({
    processor: z.string(),
    cores: count,
    memory_gib: z.number(),
    node: z.string(),
    system: z.string(),
  }),
  options: z.record(z.string(), z.unknown()).describe('as used, defaults included, without the key'),
  people: z.object({
    kind: z.enum(['made-up', 'data set']),
    enrolled: count,
    seconds: z.number(),
    requests_per_s: z.number(),
    enroll_latency_ms: Latency,
  }),
  steps: z.array(StepReport),
  knee: z
    .object({ rate: z.number().nullable(), limit: z.string() })
    .nullable()
    .describe(
      'the highest rate that held its bounds before two in a row broke them (null: none did), and what ended the ramp',
    ),
  thresholds: z.array(z.object({ text: z.string(), measured: z.string(), passed: z.boolean() })),
})
export type Report = z.infer<typeof Report>
