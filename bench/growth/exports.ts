import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import postgres from 'postgres'
import { DEFAULT_POLICY } from '../../src/domain/policy.js'
import { createExportFlows } from '../../src/flows/insight/exports.js'
import { createExporter } from '../../src/jobs/export-log.js'
import { createKeyWrap } from '../../src/storage/crypto/key-wrap-aes.js'
import { createVault } from '../../src/storage/crypto/vault-aes.js'
import { givenKeys } from '../../src/storage/key-ring.js'
import { connectPostgres } from '../../src/storage/postgres/connection/client.js'
import { startEmbedded } from '../../src/storage/postgres/embedded/embedded.js'
import { postgresExports } from '../../src/storage/postgres/insight/exports.js'
import { postgresOrganizations } from '../../src/storage/postgres/organization/organization.js'
import { postgresWrappedKeys } from '../../src/storage/postgres/organization/wrapped-key.js'
import { migrate } from '../../src/storage/postgres/schema/migrate.js'

const HELP = `Memory and time of one export of authentications: written, then read as a whole.

  npm run bench -- exports [--rows 1000000]

Uses an embedded PostgreSQL in a temporary folder. The memory is that of this process, sampled every 10 ms.
`
const { values: options } = parseArgs({
  options: { rows: { type: 'string', default: '1000000' }, help: { type: 'boolean' } },
})
if (options.help) {
  process.stdout.write(HELP)
  process.exit(0)
}
const ORGANIZATION = '01900000-0000-7000-8000-000000000001'
const ARCHIVE = '01900000-0000-7000-8000-000000000002'
const DAY_MS = 86_400_000
const mb = (bytes: number) => Math.round(bytes / 1e6)

/** Prints the peak of resident memory during `work`, its time, and the longest block of the event loop. */
async function measured<T>(name: string, work: () => Promise<T>): Promise<T> {
  let most = 0
  let stood = 0
  let last = performance.now()
  const timer = setInterval(() => {
    most = Math.max(most, process.memoryUsage.rss())
    stood = Math.max(stood, performance.now() - last - 10)
    last = performance.now()
  }, 10)
  const before = process.memoryUsage.rss()
  const begun = performance.now()
  const result = await work()
  clearInterval(timer)
  const tookS = ((performance.now() - begun) / 1000).toFixed(1)
  process.stdout.write(
    `${name}: ${tookS} s, resident at most ${mb(most)} MB (${mb(before)} before), event loop blocked for at most ${Math.round(stood)} ms\n`,
  )
  return result
}

const folder = mkdtempSync(join(tmpdir(), 'keystride-bench-'))
const embedded = await startEmbedded({ dataFolder: folder })
try {
  await migrate(embedded.url)
  const database = connectPostgres({ url: embedded.url, max: 4 })
  const keyWrap = createKeyWrap(givenKeys(Buffer.alloc(32, 7), []))
  await postgresOrganizations(database).create({
    id: ORGANIZATION,
    name: 'bench',
    wrapKey: () => keyWrap.wrapNew(ORGANIZATION),
    policyId: '01900000-0000-7000-8000-000000000003',
    policy: DEFAULT_POLICY,
    createdAt: Date.now(),
  })
  const sql = postgres(embedded.url, { max: 1, fetch_types: false, onnotice: () => {} })
  await sql`select set_config('role', 'keystride_system', false)`
  await sql`
    insert into keystride.authentication (organization_id, id, created_at, account_id, member_id, user_ref, member_ref,
      account_type, session_id, method, authenticated, recommended_action, reason, confidence, confidence_biometrics, policy_id,
      n_patterns_ref, n_patterns_ref_used)
    select ${ORGANIZATION}, overlay(keystride.uuid_from(at)::text placing substr(gen_random_uuid()::text, 15, 22) from 15 for 22)::uuid, at,
      md5('a' || i % 99991)::uuid, md5('m' || i % 99991)::uuid, 'user-' || i % 99991 || '@example.com',
      'user-' || i % 99991 || '@example.com', 'nominative', substr(md5('s' || i), 1, 16), 'biometric', true, 'auth', '',
      random(), random(), '01900000-0000-7000-8000-000000000003', 5, 5
    from (select i, now() - i * interval '2 seconds' as at from generate_series(1, ${options.rows}::int) i) t`
  await sql.end()

  const exports = postgresExports(database)
  const wrappedKeys = postgresWrappedKeys(database)
  const vault = createVault({ keyWrap, wrappedKeyOf: (id) => wrappedKeys.find(id) })
  const now = Date.now()
  const window = { from: now - 399 * DAY_MS, to: now }
  const archive = { id: ARCHIVE, kind: 'authentications', window, createdAt: now, expiresAt: now + DAY_MS } as const
  await exports.add(ORGANIZATION, archive, 1)
  await measured(`${options.rows} rows written`, () =>
    createExporter({ exports, vault })(ORGANIZATION, ARCHIVE, new AbortController().signal),
  )
  const flows = createExportFlows({
    exports,
    vault,
    jobs: { send: async () => true },
    newId: () => ARCHIVE,
    now: Date.now,
  })
  const { bytes } = await measured('read as a whole', () => flows.download(ORGANIZATION, ARCHIVE))
  process.stdout.write(`the archive: ${mb(bytes.length)} MB\n`)
  await database.close()
} finally {
  await embedded.stop()
  rmSync(folder, { recursive: true, force: true })
}
