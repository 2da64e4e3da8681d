import { z } from 'zod'
import { OPERATIONS } from './recorder.js'

const ms = z.number().nullable()
const count = z.int().min(0)
const shareOf = z.number().min(0).max(1).nullable()
const Latency = z
  .object({ p50: ms, p90: ms, p99: ms, 'p99.9': ms, max: ms, mean: ms })
  .describe('milliseconds; null if nothing was measured')

const OperationReport = z.object({
  answers: count.describe('answers, any status'),
  statuses: z.record(z.string(), count).describe('answers by HTTP status'),
  transport: z.record(z.string(), count).describe('requests without an answer, by error code'),
  wrong: z
    .record(z.string(), count)
    .describe('answers with the wanted status whose body contradicts itself or the request'),
  latency_ms: Latency.describe(
    'from the intended start to the complete answer; of answers with a wanted status and of timed-out requests',
  ),
  service_ms: Latency.describe(
    'from the moment the request has its connection: what a tool that ignores the wait would report',
  ),
  histogram: z.string().describe('latency in microseconds as an HdrHistogram (V2, compressed, base64)'),
})

const Second = z.object({
  second: count.describe('from 0, after the warm-up; an answer belongs to the second of its arrival'),
  arrivals: count,
  completed: count,
  errors: count,
  p50_ms: ms.describe('verify'),
  p99_ms: ms.describe('verify'),
  signin_p99_ms: ms.describe('whole sign-in'),
})

const ServiceSecond = z.object({
  second: count.describe('from 0, after the warm-up'),
  cpu_cores: z.number().describe('processor time of all processes of the service, in cores'),
  in_flight: count.describe('requests in flight at the end of the second'),
  waiting: count.describe('queued requests at the end of the second'),
  shed: count.describe('requests shed in the second because of overload'),
  verifies: count.describe('verifies answered in the second, counted by the service'),
  verify_p99_ms: ms.describe(
    'from the head of a request to its answer, interpolated from the histogram of the service',
  ),
})

const Health = z.object({
  sound: z
    .boolean()
    .describe('false: the load generator was overloaded, so the figures are not those of the service alone'),
  reasons: z.array(z.string()),
  late_p99_ms: ms.describe('delay of the generator at the start of arrivals; null in a closed loop'),
  waited_p99_ms: ms.describe('wait of requests for a free connection'),
  busiest_worker: z.number().describe('share of the time that the busiest event loop was busy, 0 to 1'),
  loop_delay_p99_ms: z.number(),
  generator_cores: z.number().describe('processor time of the generator, in cores'),
  machine_busy: z.number().describe("share of the generator's machine that was busy, 0 to 1, by all processes"),
})

/** A step: one rate, or one closed loop. */
export const StepReport = z.object({
  rate: z.number().nullable().describe('intended sign-ins a second; null in the closed loop'),
  seconds: z.number().describe('measured time, without the warm-up'),
  warm_up_s: z.number(),
  arrivals: count,
  arrivals_per_s: z.number(),
  goodput_per_s: z
    .number()
    .describe('sign-ins a second that reached a verdict without an error, until the last answer'),
  requests_per_s: z.number(),
  errors: z.object({
    share: z.number().describe('share of all requests'),
    transport: count.describe('connections refused or broken, time-outs'),
    overloaded: count.describe('503 and 429'),
    unwanted: count.describe('any other unwanted status'),
    wrong: count,
    dropped: count.describe('never sent, because too many requests were waiting'),
  }),
  operations: z
    .partialRecord(z.enum(OPERATIONS), OperationReport)
    .describe('signin is the whole sign-in, the others are its requests'),
  accuracy: z.object({
    genuine_signins: count,
    genuine_signins_authenticated: count.describe('authenticated by typing, by typing again, or by a security code'),
    genuine_patterns: count.describe('scored patterns, without those refused because the person was locked'),
    genuine_accepted: count,
    genuine_challenged: count,
    genuine_blocked: count,
    genuine_called_bots: count,
    genuine_called_replays: count,
    false_reject_share: shareOf.describe('share of scored genuine patterns that were not authenticated'),
    impostor_patterns: count,
    impostor_accepted: count,
    false_accept_share: shareOf.describe('share of scored impostor patterns that were authenticated'),
    codes: count,
    codes_accepted: count,
    attempts_refused: count.describe('not scored, because the member or session was locked'),
    members_locked: count,
    people_enrolled: count,
    enrolling_called_bots: count,
    enrolling_called_replays: count,
  }),
  health: Health,
  passed: z.boolean().nullable().describe('whether a step of a ramp kept its bounds; null outside a ramp'),
  series: z.array(Second),
  service_series: z
    .array(ServiceSecond)
    .describe('the same seconds from the metrics of the service; empty if unreadable'),
})
export type StepReport = z.infer<typeof StepReport>

/** The whole report: the output of `--json` and the input of the HTML page. */
export const Report = z.object({
  schema: z.literal('keystride-load/1'),
  started_at: z.iso.datetime(),
  ended_at: z.iso.datetime(),
  ended: z
    .enum(['complete', 'interrupted'])
    .describe('interrupted: stopped by Ctrl-C; the figures cover the time until then'),
  service: z.object({
    url: z.string(),
    version: z.string(),
    own: z.boolean().describe('started by the load tester, on the same machine'),
    stores: z.string().nullable().describe('its stores; null if unknown'),
    metrics: z.string().nullable().describe('URL of its metrics; null if unreadable'),
    http_provider: z.string().nullable().describe('HTTP implementation reported by /metrics; null if not reported'),
  }),
  machine: z.object({
    processor: z.string(),
    cores: count,
    memory_gib: z.number(),
    node: z.string(),
    system: z.string(),
  }),
  options: z.record(z.string(), z.unknown()).describe('options used, with defaults, without the key'),
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
      'rate: the highest that kept its bounds before two in a row broke them (null: none); limit: what ended the ramp',
    ),
  thresholds: z.array(z.object({ text: z.string(), measured: z.string(), passed: z.boolean() })),
})
export type Report = z.infer<typeof Report>
