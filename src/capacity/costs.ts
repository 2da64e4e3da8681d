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

/**
 * Costs of requests on one machine, measured by `npm run bench -- path --costs FILE`: the input of `keystride plan`.
 * `verify_first` is a verify of a person who is not in the process's cache, `verify` one of a cached person.
 */
export const CapacityCosts = z.object({
  schema: z.literal('keystride-costs/1'),
  measured_at: z.iso.date(),
  path_version: z.int().min(0).default(0).describe('`PATH_VERSION` of the measured code; 0 before it was recorded'),
  machine: z.string().min(1),
  scoring: z.enum(['inline', 'pool']),
  presses: z.int().min(1).describe('key presses of the verified patterns'),
  requests: z.object({
    bootstrap: Request,
    create: Request.describe('a new account with its member'),
    verify_first: Request,
    verify: Request,
    code: Request,
    enroll: Request,
  }),
  commit_ms: Range.describe('one commit of one attempt, alone'),
  unloaded_p99_ms: Range.describe('p99 of sequential verifies; the plan uses typical'),
  bytes: z.object({
    attempt: bytes.describe('an authentication in PostgreSQL, with its indexes'),
    replay_mark: bytes.describe('its entry in the replay index'),
    person: bytes.describe('account, member and five references, with their indexes'),
    wal: bytes.describe('write-ahead log of a verify'),
    session: bytes.describe('a session in Redis'),
    process: bytes.describe('resident memory of a serving process with an empty cache'),
    cached_profile: bytes,
  }),
})
export type CapacityCosts = z.infer<typeof CapacityCosts>
