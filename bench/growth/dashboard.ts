import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DEFAULT_TARGETS } from '../../src/domain/biometric-status.js'
import { DEFAULT_POLICY } from '../../src/domain/policy.js'
import { createSeries } from '../../src/flows/insight/series.js'
import { EVERYBODY, type UserFilter } from '../../src/storage/directory.js'
import { postgresAttemptLog } from '../../src/storage/postgres/attempt/attempt-log.js'
import { connectPostgres } from '../../src/storage/postgres/connection/client.js'
import { startEmbedded } from '../../src/storage/postgres/embedded/embedded.js'
import { postgresStatistics } from '../../src/storage/postgres/insight/statistics.js'
import { postgresOrganizations } from '../../src/storage/postgres/organization/organization.js'
import { postgresDirectory } from '../../src/storage/postgres/person/directory.js'
import { migrate } from '../../src/storage/postgres/schema/migrate.js'
import { USER_SORTS } from '../../src/storage/statistics.js'
import { quantile } from '../shared/drive.js'
import { benchOptions } from '../shared/options.js'
import { fillDatabase } from './filled.js'

const HELP = `Time of the dashboard's lists and figures over 30 days of one large organization.

  npm run bench -- dashboard [--attempts 1000000] [--users 100000] [--rounds 20]

Fills an embedded PostgreSQL in a temporary folder with a seeded generator; the latest attempts are from now.
`
const defaults = { attempts: 1_000_000, users: 100_000, rounds: 20 }
const { attempts, users, rounds } = benchOptions('dashboard', HELP, defaults, { files: [] }).numbers
const say = (text: string) => process.stderr.write(`${text}\n`)
const ORGANIZATION = '01900000-0000-7000-8000-000000000001'
const DAY_MS = 86_400_000

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
  await fillDatabase(embedded.url, ORGANIZATION, { users: [1, users], attempts: [1, attempts], say })
  const statistics = postgresStatistics(database)
  const began = performance.now()
  while (await statistics.countAttempts()) {
    // Repeats until all hours are counted.
  }
  say(`counted in ${((performance.now() - began) / 1000).toFixed(1)} s`)

  const [log, directory, series] = [
    postgresAttemptLog(database),
    postgresDirectory(database),
    createSeries({ statistics }),
  ]
  const to = Date.now()
  const window = { from: to - 30 * DAY_MS, to }
  const all = { window, userRef: null, method: null, action: null, reason: null, application: null }
  const page = { skip: 0, limit: 50 }
  const newest = { ...page, sort: 'created', descending: true } as const
  const listed = (some: Partial<UserFilter>) => {
    const filter = { ...EVERYBODY, ...some }
    return Promise.all([directory.page(O, filter, newest), directory.count(O, filter)])
  }
  const order = { sort: 'n', descending: true, skip: 0, limit: 50, userRefFilter: null } as const
  const O = ORGANIZATION
  const reads: Record<string, () => Promise<unknown>> = {
    'users, first page': () => directory.page(O, EVERYBODY, newest),
    'users, filtered, with count': () => listed({ userRef: '777' }),
    'users of a profile status, with count': () =>
      listed({ profile: { status: 'reset', targets: DEFAULT_TARGETS, now: to } }),
    'users of a group, with count': () => listed({ group: 'staff' }),
    'users by last authentication': () => directory.page(O, EVERYBODY, { ...newest, sort: 'last_authentication' }),
    'users by reference': () => directory.page(O, EVERYBODY, { ...newest, sort: 'user_ref', descending: false }),
    'users-refs': () => directory.search(O, '12', 20),
    'users-growth': () => directory.growth(O, window, 'day'),
    'authentications, first page with count': () =>
      Promise.all([log.page(O, all, page, null), series.total(O, window)]),
    'authentications, page 2,000': () => log.page(O, all, { skip: 100_000, limit: 50 }, null),
    'authentications, blocked only': () => log.page(O, { ...all, action: 'block' }, page, null),
    'authentications, bots only': () => log.page(O, { ...all, reason: 'detection-bot' }, page, null),
    'authentications of one application': () => log.page(O, { ...all, application: 'app-1' }, page, null),
    'authentications of an absent application': () => log.page(O, { ...all, application: 'none' }, page, null),
    'authentications of one user, with count': () => {
      const one = { ...all, userRef: 'user-42@example.com' }
      return Promise.all([log.page(O, one, page, null), log.count(O, one)])
    },
    'authentications-history, by hour': () => series.attempts(O, window, 'hour'),
    'daily usages': () => series.attempts(O, window, 'day'),
    'blocked users': () => Promise.all([directory.blocked(O, to, page), directory.countBlocked(O, to)]),
    'blocked users history': () => series.blockedUsers(O, window, 'day'),
    ...Object.fromEntries(
      USER_SORTS.flatMap((sort) =>
        [true, false].flatMap((descending) =>
          [0, 10_000].map((skip) => [
            `users table, by ${sort} ${descending ? 'descending' : 'ascending'}${skip === 0 ? '' : ', page 200'}`,
            () => statistics.users(O, window, { ...order, sort, descending, skip }),
          ]),
        ),
      ),
    ),
    'users table, filtered': () => statistics.users(O, window, { ...order, userRefFilter: '777' }),
    'users table, filter that many names pass, page 50': () =>
      statistics.users(O, window, { ...order, userRefFilter: '7', skip: 2500 }),
    groups: () => directory.groups(O),
    geolocation: () => series.by(O, 'place', window),
    'contextual, device': () => series.indicator(O, 'device', window),
    application: () => series.by(O, 'application', window),
    'confidence, in twentieths': () => series.confidences(O, window),
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
