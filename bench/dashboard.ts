import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import postgres from 'postgres'
import { NO_ATTEMPTS } from '../src/domain/attempts.js'
import { DEFAULT_POLICY } from '../src/domain/policy.js'
import { createSeries } from '../src/flows/series.js'
import { postgresAttemptLog } from '../src/storage/postgres/attempt-log.js'
import { connectPostgres } from '../src/storage/postgres/client.js'
import { postgresDirectory } from '../src/storage/postgres/directory.js'
import { startEmbedded } from '../src/storage/postgres/embedded.js'
import { migrate } from '../src/storage/postgres/migrate.js'
import { postgresOrganizations } from '../src/storage/postgres/organization.js'
import { postgresStatistics } from '../src/storage/postgres/statistics.js'
import { quantile } from './drive.js'

const HELP = `How long the dashboard's lists and figures take over 30 days of one large organization.

  npm run bench:dashboard -- [--attempts 1000000] [--users 100000] [--rounds 20]

An embedded PostgreSQL in a temporary folder is filled by a seeded generator; the attempts end now.
`
const { values: options } = parseArgs({
  options: {
    attempts: { type: 'string', default: '1000000' },
    users: { type: 'string', default: '100000' },
    rounds: { type: 'string', default: '20' },
    help: { type: 'boolean' },
  },
})
if (options.help) {
  process.stdout.write(HELP)
  process.exit(0)
}
const [attempts, users, rounds] = [options.attempts, options.users, options.rounds].map(Number) as [
  number,
  number,
  number,
]
const say = (text: string) => process.stderr.write(`${text}\n`)
const ORGANIZATION = '01900000-0000-7000-8000-000000000001'
const DAY_MS = 86_400_000

/** What an attempt's facts take on disk, about: six indicators with their signals. */
const FACTS = JSON.stringify({
  ip: '203.0.113.7',
  mode: 'visible',
  tags: [{ k: 'app', v: 'web' }],
  indicators: Array.from({ length: 5 }, (_, i) => ({
    indicator: `indicator-${i}`,
    weight: 1,
    score: 0.984375,
    signals: Array.from({ length: 4 }, (_, j) => ({
      signal: `s${j}`,
      value: 'x'.repeat(12),
      reference: 'x'.repeat(12),
      weight: 1,
      computedOutcome: 0.984375,
    })),
  })),
})

async function fill(url: string): Promise<void> {
  const sql = postgres(url, { max: 1, fetch_types: false, onnotice: () => {} })
  for (const table of ['account', 'member', 'authentication'])
    await sql.unsafe(`alter table keystride.${table} disable trigger user`)
  await sql`select set_config('role', 'keystride_system', false)`
  await sql`select setseed(0.5)`
  await sql`
    insert into keystride.account (organization_id, id, user_ref, type, groups, created_at)
    select ${ORGANIZATION}, md5('a' || i)::uuid, 'user-' || i || '@example.com', 'nominative',
      case i % 5 when 0 then '["staff"]'::jsonb else '[]'::jsonb end, now() - random() * interval '300 days'
    from generate_series(1, ${users}::int) i`
  await sql`
    insert into keystride.member (organization_id, id, account_id, member_ref, attempts, created_at)
    select ${ORGANIZATION}, md5('m' || i)::uuid, md5('a' || i)::uuid, 'user-' || i || '@example.com',
      case i % 100 when 0 then jsonb_set(${JSON.stringify(NO_ATTEMPTS)}::text::jsonb, '{biometric,off}', 'true')
        else ${JSON.stringify(NO_ATTEMPTS)}::text::jsonb end, now()
    from generate_series(1, ${users}::int) i`
  await sql`update keystride.headcount set n_accounts = ${users} where organization_id = ${ORGANIZATION}`
  const step = 50_000
  for (let from = 1; from <= attempts; from += step) {
    await sql`
      insert into keystride.authentication (organization_id, id, created_at, account_id, member_id, user_ref, member_ref,
        account_type, session_id, method, authenticated, recommended_action, reason, confidence, confidence_biometrics,
        confidence_context, policy_id, n_patterns_ref, n_patterns_ref_used, pattern_id, facts, facets)
      select ${ORGANIZATION}, (lpad(to_hex(ms), 12, '0') || '7' || substr(md5('i' || i), 1, 3) || '8' || substr(md5('i' || i), 4, 15))::uuid,
        to_timestamp(ms / 1000.0), md5('a' || u)::uuid, md5('m' || u)::uuid, 'user-' || u || '@example.com',
        'user-' || u || '@example.com', 'nominative', substr(md5('s' || i), 1, 16),
        case when i % 10 = 0 then 'security_code' else 'biometric' end, r < 0.9,
        case when r < 0.9 then 'auth' when r < 0.95 then 'challenge' else 'block' end, '', r, r, r, md5('p')::uuid, 5, 5,
        md5('t' || i)::uuid, ${FACTS}::text::jsonb, jsonb_build_object('application', 'app-' || i % 5, 'country', 'C' || i % 30,
          'place', (i % 60) || '.5 ' || (i % 90) || '.5 FR City', 'browser', 'B' || i % 6, 'os', 'O' || i % 5, 'kind', 'desktop',
          'score.device', 'high', 'score.network', 'low', 'score.time', 'medium')
      from (select i, random() as r, 1 + floor(random() * ${users}::int)::int as u,
        ((extract(epoch from now()) - 30 * 86400 * (1 - (i - random()) / ${attempts}::float8)) * 1000)::bigint as ms
        from generate_series(${from}::int, ${Math.min(attempts, from + step - 1)}::int) i) drawn`
    if (from % 200_000 === 1) say(`  ${from - 1} attempts`)
  }
  await sql`reset role`
  for (const table of ['account', 'member', 'authentication'])
    await sql.unsafe(`alter table keystride.${table} enable trigger user`)
  await sql`vacuum analyze`
  await sql.end()
}

const folder = mkdtempSync(join(tmpdir(), 'keystride-bench-'))
const embedded = await startEmbedded({ dataFolder: folder, log: () => {} })
try {
  await migrate(embedded.url)
  const database = connectPostgres({ url: embedded.url, max: 4 })
  await postgresOrganizations(database).create({
    id: ORGANIZATION,
    name: 'bench',
    wrapKey: () => new Uint8Array(69),
    policyId: '01900000-0000-7000-8000-000000000002',
    policy: DEFAULT_POLICY,
    createdAt: Date.now() - 400 * DAY_MS,
  })
  say(`filling ${users} users, ${attempts} attempts`)
  await fill(embedded.url)
  const statistics = postgresStatistics(database)
  const began = performance.now()
  while (await statistics.countAttempts()) {
    // More hours are left.
  }
  say(`counted in ${((performance.now() - began) / 1000).toFixed(1)} s`)

  const [log, directory, series] = [
    postgresAttemptLog(database),
    postgresDirectory(database),
    createSeries({ statistics }),
  ]
  const to = Date.now()
  const window = { from: to - 30 * DAY_MS, to }
  const all = { window, userRef: null, method: null, action: null }
  const page = { skip: 0, limit: 50 }
  const order = { sort: 'n', descending: true, skip: 0, limit: 50, userRefFilter: null } as const
  const O = ORGANIZATION
  const reads: Record<string, () => Promise<unknown>> = {
    'users, first page': () => directory.page(O, null, page),
    'users, filtered, with count': () => Promise.all([directory.page(O, '777', page), directory.count(O, '777')]),
    'users-refs': () => directory.search(O, '12', 20),
    'users-growth': () => directory.growth(O, window, 'day'),
    'authentications, first page with count': () => Promise.all([log.page(O, all, page), series.total(O, window)]),
    'authentications, page 2,000': () => log.page(O, all, { skip: 100_000, limit: 50 }),
    'authentications, blocked only': () => log.page(O, { ...all, action: 'block' }, page),
    'authentications of one user, with count': () => {
      const one = { ...all, userRef: 'user-42@example.com' }
      return Promise.all([log.page(O, one, page), log.count(O, one)])
    },
    'authentications-history, by hour': () => series.attempts(O, window, 'hour'),
    'daily usages': () => series.attempts(O, window, 'day'),
    'blocked users': () => Promise.all([directory.blocked(O, to, page), directory.countBlocked(O, to)]),
    'blocked users history': () => series.blockedUsers(O, window, 'day'),
    'users table, most attempts': () => statistics.users(O, window, order),
    'users table, lowest confidence': () =>
      statistics.users(O, window, { ...order, sort: 'confidence', descending: false }),
    'users table, by name': () => statistics.users(O, window, { ...order, sort: 'user_ref', descending: false }),
    'users table, filtered': () => statistics.users(O, window, { ...order, userRefFilter: '777' }),
    'users table, page 200': () => statistics.users(O, window, { ...order, skip: 10_000 }),
    groups: () => directory.groups(O),
    geolocation: () => series.by(O, 'place', window),
    'contextual, device': () => series.indicator(O, 'device', window),
    application: () => series.by(O, 'application', window),
    'connexion-stats': () => series.habits(O, window),
    'data-counter': () => Promise.all([directory.arrivals(O, window), series.total(O, window)]),
    patterns: () => log.patterns(O, window, page),
    'tags of the newest 10,000': () => log.tags(O, null, window, 10_000),
  }
  process.stdout.write('| read | median ms | p95 ms |\n|---|---|---|\n')
  for (const [name, read] of Object.entries(reads)) {
    const took: number[] = []
    try {
      for (let round = 0; round < rounds + 2; round++) {
        const start = performance.now()
        await read()
        if (round >= 2) took.push(performance.now() - start)
      }
      const sorted = Float64Array.from(took).sort()
      process.stdout.write(`| ${name} | ${quantile(sorted, 0.5).toFixed(1)} | ${quantile(sorted, 0.95).toFixed(1)} |\n`)
    } catch (error) {
      process.stdout.write(`| ${name} | ${(error as Error).message} | |\n`)
    }
  }
  await database.close()
} finally {
  await embedded.stop()
  rmSync(folder, { recursive: true, force: true })
}
