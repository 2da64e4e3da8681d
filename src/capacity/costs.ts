import { z } from 'zod'

/** A measured quantity: the median of its rounds, the best and the worst. */
const Range = z
  .object({ low: z.number().min(0), typical: z.number().min(0), high: z.number().min(0) })
  .refine(({ low, typical, high }) => low <= typical && typical <= high, 'must have low <= typical <= high')
export type Range = z.infer<typeof Range>

const Request = z.object({
  front_us: Range.describe('processor time of a serving process, µs a request'),
  postgres_us: Range.describe('processor time of PostgreSQL, including its share of background writing'),
  redis_us: Range.describe('processor time of Redis'),
  redis_commands: z.number().min(0),
})
export type RequestCost = z.infer<typeof Request>

const bytes = z.number().min(0)

/** Costs of requests on one machine, measured by `npm run bench -- path --costs FILE`: the input of `keystride plan`. */
export const CapacityCosts = z.object({
  schema: z.literal(
    'keystride-costs/2',
    'must be keystride-costs/2: measure the costs again by npm run bench -- path --costs FILE',
  ),
  measured_at: z.iso.date(),
  path_version: z.int().min(0).default(0).describe('`PATH_VERSION` of the measured code; 0 before it was recorded'),
  machine: z.string().min(1),
  scoring: z.enum(['inline', 'pool']),
  presses: z.int().min(1).describe('key presses of the verified patterns'),
  requests: z.object({
    signin: Request.describe('a bootstrap and a verify, on any processes, of people with a history in random order'),
    verify: Request.describe('a verify whose process reads the person from the stores, as that of a second typing'),
    bootstrap: Request,
    create: Request.describe('a new account with its member'),
    code: Request.describe('a verify by a security code, with a bootstrap'),
    enroll: Request,
  }),
  blocks_read: z
    .number()
    .min(0)
    .describe('blocks that PostgreSQL reads for a sign-in, with data of four times its buffers'),
  commit_ms: Range.describe('one commit of one attempt, alone'),
  unloaded_p99_ms: Range.describe('p99 of sequential verifies; the plan uses typical'),
  bytes: z.object({
    attempt: bytes.describe('an authentication in PostgreSQL, with its indexes'),
    replay_mark: bytes.describe('its entry in the replay index'),
    person: bytes.describe('account, member and five references, with their indexes'),
    comparison_set: bytes.describe('comparison set of a person with 48 known patterns, with its indexes'),
    wal: bytes.describe('write-ahead log of a sign-in'),
    session: bytes.describe('a live session in Redis without a person'),
    carried: bytes.describe('the person that a session carries in Redis until its first attempt'),
    process: bytes.describe('resident memory of a serving process after sign-ins, with the caches as shipped'),
  }),
})
export type CapacityCosts = z.infer<typeof CapacityCosts>
