import { randomBytes } from 'node:crypto'
import postgres from 'postgres'
import { NO_ATTEMPTS } from '../../src/domain/attempts.js'
import { judgeContext } from '../../src/domain/context/context.js'
import { CONTEXT_INDICATORS } from '../../src/domain/context/signal.js'
import { toFactsText } from '../../src/storage/postgres/attempt/facts-codec.js'
import { inBulk } from '../shared/bulk.js'

const TAGS = [{ k: 'app', v: 'web' }]
const CIRCUMSTANCES = {
  ip: '203.0.113.7',
  network: { asn: 64500, organization: 'Example Network' },
  place: null,
  anonymizer: false,
  device: null,
}
/** Facts of an attempt by typing, as the service writes them. */
const FACTS = toFactsText({
  ...CIRCUMSTANCES,
  application: 'web',
  tags: TAGS,
  indicators: judgeContext({ at: 0, ...CIRCUMSTANCES }, {}, {}, CONTEXT_INDICATORS).indicators,
  botLikelihood: 0.02,
  confidenceEnrolled: 0.984375,
  confidenceAdapted: null,
  contextKnown: true,
  shadow: null,
  copyOf: null,
  replayRejected: false,
  editedCopyRejected: false,
  impossibleTravel: false,
  bot: false,
  replay: false,
  mode: 'visible',
  references: Array.from({ length: 5 }, (_, i) => `00000000-0000-7000-8000-00000000000${i}`),
  adaptive: [],
})

interface Filling {
  /** First and last of the users and attempts to add. Attempts are distributed over users 1 to the last. */
  readonly users: readonly [from: number, to: number]
  readonly attempts: readonly [from: number, to: number]
  /** Adds a replay mark for each attempt. */
  readonly marks?: boolean
  /** Adds a sample of `bytes` to each attempt by typing: a random part of `noise`. */
  readonly samples?: { readonly noise: Uint8Array; readonly bytes: number }
  readonly say: (line: string) => void
}

const STEP = 50_000
/** Bytes of a comparison set, of which the service makes 8.5 kB and half a tail for people with 48 known patterns. */
const [BASE, TAIL] = [8500, 475]
/** Random bytes that the sets are parts of. */
const RANDOM = 50_000
/** From this number of marks on, their index is rebuilt instead of filled. Not measured. */
const MANY_MARKS = 500_000

/** Adds seeded synthetic users and attempts of the last 30 days to an organization, with triggers disabled. */
export async function fillDatabase(url: string, organizationId: string, filling: Filling): Promise<void> {
  const { attempts, marks = false, say } = filling
  const sql = postgres(url, { max: 1, fetch_types: false, onnotice: () => {} })
  const rebuildBands = marks && attempts[1] - attempts[0] >= MANY_MARKS
  await inBulk(sql, { rebuildBands, say }, () => fill(sql, organizationId, filling))
  await sql.end()
}

async function fill(sql: postgres.Sql, organizationId: string, filling: Filling): Promise<void> {
  const { users, attempts, marks = false, samples, say } = filling
  const { noise, bytes } = samples ?? { noise: null, bytes: 0 }
  await sql`select set_config('role', 'keystride_system', false)`
  await sql`select setseed(0.5)`
  await sql`
    insert into keystride.account (organization_id, id, user_ref, type, groups, created_at)
    select ${organizationId}, md5('a' || i)::uuid, 'user-' || i || '@example.com', 'nominative',
      case i % 5 when 0 then '["staff"]'::jsonb else '[]'::jsonb end, now() - random() * interval '300 days'
    from generate_series(${users[0]}::int, ${users[1]}::int) i`
  await sql`
    insert into keystride.member (organization_id, id, account_id, member_ref, attempts, created_at)
    select ${organizationId}, md5('m' || i)::uuid, md5('a' || i)::uuid, 'user-' || i || '@example.com',
      case i % 100 when 0 then jsonb_set(${JSON.stringify(NO_ATTEMPTS)}::text::jsonb, '{biometric,off}', 'true')
        else ${JSON.stringify(NO_ATTEMPTS)}::text::jsonb end, now()
    from generate_series(${users[0]}::int, ${users[1]}::int) i`
  for (let from = users[0]; from <= users[1]; from += STEP)
    await sql`
      insert into keystride.comparison_set (organization_id, member_id, generation, profile_version, attempts_version,
        has_adaptive, oldest_at, base, tail)
      select ${organizationId}, md5('m' || i)::uuid, 0, 0, 0, false, now(), substr(noise, 1 + i % ${RANDOM}::int, ${BASE}::int),
        substr(noise, 1 + i % ${RANDOM}::int, ${TAIL}::int)
      from (select ${randomBytes(RANDOM + BASE)}::bytea as noise offset 0) random,
        generate_series(${from}::int, ${Math.min(users[1], from + STEP - 1)}::int) i`
  await sql`update keystride.headcount set n_accounts = ${users[1]} where organization_id = ${organizationId}`
  for (let from = attempts[0]; from <= attempts[1]; from += STEP) {
    const to = Math.min(attempts[1], from + STEP - 1)
    await sql`
      insert into keystride.authentication (organization_id, id, created_at, account_id, member_id, user_ref, member_ref,
        account_type, session_id, method, authenticated, recommended_action, reason, confidence, confidence_biometrics,
        confidence_context, policy_id, n_patterns_ref, n_patterns_ref_used, pattern_id, facts, sealed, tags, facets)
      select ${organizationId}, (lpad(to_hex(ms), 12, '0') || '7' || substr(md5('i' || i), 1, 3) || '8' || substr(md5('i' || i), 4, 15))::uuid,
        to_timestamp(ms / 1000.0), md5('a' || u)::uuid, md5('m' || u)::uuid, 'user-' || u || '@example.com',
        'user-' || u || '@example.com', 'nominative', substr(md5('s' || i), 1, 16),
        case when i % 10 = 0 then 'security_code' else 'biometric' end, r < 0.9,
        case when r < 0.9 then 'auth' when r < 0.95 then 'challenge' else 'block' end, '', r, r, r, md5('p')::uuid, 5, 5,
        case when i % 10 > 0 then md5('t' || i)::uuid end, case when i % 10 > 0 then ${FACTS} end,
        case when i % 10 > 0 then substr(${noise}::bytea, 1 + floor(random() * ${(noise?.length ?? 0) - bytes}::int)::int, ${bytes}::int) end,
        ${JSON.stringify(TAGS)}::text::jsonb, jsonb_build_object('application', 'app-' || i % 5, 'country', 'C' || i % 30,
          'place', (i % 60) || '.5 ' || (i % 90) || '.5 FR City', 'browser', 'B' || i % 6, 'os', 'O' || i % 5, 'kind', 'desktop',
          'score.device', 'high', 'score.network', 'low', 'score.time', 'medium')
      from (select i, random() as r, 1 + floor(random() * ${users[1]}::int)::int as u,
        ((extract(epoch from now()) - 30 * 86400 * (1 - (i - random()) / ${attempts[1]}::float8)) * 1000)::bigint as ms
        from generate_series(${from}::int, ${to}::int) i) drawn`
    if (marks) await markAttempts(sql, organizationId, { users: users[1], from, to })
    if (from % 200_000 === 1) say(`  ${(from - 1).toLocaleString('en')} attempts`)
  }
  await sql`reset role`
}

/** Marks with random bands, as real typing has. */
const markAttempts = (
  sql: postgres.Sql,
  organizationId: string,
  { users, from, to }: { readonly users: number; readonly from: number; readonly to: number },
) => sql`
  insert into keystride.replay_mark (organization_id, exact, bands, member_id, seen_at, pattern_id, generation)
  select ${organizationId}, decode(md5('x' || i), 'hex'),
    array(select ('x' || substr(md5('b' || i || '.' || band), 1, 16))::bit(64)::bigint from generate_series(1, 8) band),
    md5('m' || (1 + i % ${users}::int))::uuid, now() - random() * interval '30 days',
    md5('p' || i)::uuid, 0
  from generate_series(${from}::int, ${to}::int) i`
