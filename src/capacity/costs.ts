import { z } from 'zod'

/** A measured quantity: the middle of its rounds, the best and the worst. */
const Range = z
  .object({ low: z.number().min(0), typical: z.number().min(0), high: z.number().min(0) })
  .refine(({ low, typical, high }) => low <= typical && typical <= high, 'low <= typical <= high is wanted')
export type Range = z.infer<typeof Range>

const Request = z.object({
  front_us: Range.describe('processor of a process that serves, µs a request'),
  postgres_us: Range.describe('processor of PostgreSQL, its share of background writing in it'),
  redis_us: Range.describe('processor of Redis'),
  redis_commands: z.number().min(0),
})
export type RequestCost = z.infer<typeof Request>

const bytes = z.number().min(0)

/**
 * `verify_first` is of somebody whom the process does not remember, `verify` of somebody it does.
 * What requests cost on one machine, as `npm run bench -- path --costs FILE` measures it: what `keystride plan` starts from. */
export const CapacityCosts = z.object({
  schema: z.literal('keystride-costs/1'),
  measured_at: z.iso.date(),
  machine: z.string().min(1),
  scoring: z.enum(['inline', 'pool']),
  presses: z.int().min(1).describe('key presses of the patterns that were verified'),
  requests: z.object({
    bootstrap: Request,
    create: Request.describe('a new account with its member'),
    verify_first: Request,
    verify: Request,
    code: Request,
    enroll: Request,
  }),
  commit_ms: Range.describe('one commit of one attempt, alone'),
  unloaded_p99_ms: Range.describe('99 of 100 verifies asked one after the other: the plan goes by typical'),
  bytes: z.object({
    attempt: bytes.describe('an authentication in PostgreSQL, its indexes in it'),
    replay_mark: bytes.describe('what the replay index keeps of it'),
    person: bytes.describe('account, member and five references, their indexes in it'),
    wal: bytes.describe('write-ahead log of a verify'),
    session: bytes.describe('a session in Redis'),
    process: bytes.describe('resident memory of a process that serves, nothing cached'),
    cached_profile: bytes,
  }),
})
export type CapacityCosts = z.infer<typeof CapacityCosts>
