import { randomBytes } from 'node:crypto'
import postgres from 'postgres'
import { fillDatabase } from '../growth/filled.js'
import { enroll } from '../ratio/people.js'
import type { Running } from '../shared/deployment.js'
import { signIn } from './people.js'
import type { Stage } from './stage.js'
import type { RunStep } from './steps.js'

/** People who enroll through the service, and can sign in. The rows of all others are generated. */
export const PEOPLE = 12
const REFERENCES = 5

/** A service with people, on the stage's database. */
interface Deployed {
  readonly organizationId: string
  readonly apikey: string
  readonly service: Running
}

/** Migrates, starts the service, enrolls people, and adds generated ones until there are `patterns` reference patterns and attempts. */
export async function deployOn(stage: Stage, step: RunStep, patterns: number): Promise<Deployed> {
  const { shell, primary, env } = stage
  const { organizationId, apikey } = await step('create the schema, an organization and its key', async () => {
    const sql = /once in this database:\n\n([\s\S]*;)/.exec(await shell('keystride migrate'))?.[1]
    if (sql === undefined) throw new Error('"keystride migrate" printed no statements for the role of backups')
    await primary.run(sql, 'keystride')
    const [created = ''] = (await shell('keystride organization create Drill')).split('\n')
    const key = (await shell(`keystride key issue ${created} --label drill`)).trim()
    return { found: `organization ${created}`, value: { organizationId: created, apikey: key } }
  })
  const service = await step(`enroll ${PEOPLE} people through the service, and sign one in`, async () => {
    const running = await stage.serve()
    await enroll({ port: running.port, apikey, people: PEOPLE, references: REFERENCES })
    const typings = await signIn({ port: running.port, apikey }, 0)
    return { found: `signed in; typings needed: ${typings}`, value: running }
  })
  await step(`generate rows up to ${patterns.toLocaleString('en')} patterns and attempts`, async () => {
    const added = Math.max(0, patterns - PEOPLE * REFERENCES)
    if (added > 0)
      await grow(env.DATABASE_URL ?? '', organizationId, { references: added, attempts: patterns, say: stage.say })
    const [row] = await primary.run('select pg_database_size(current_database())::float8 as bytes', 'keystride')
    return { found: `${(Number(row?.bytes) / 2 ** 20).toFixed(0)} MiB`, value: null }
  })
  return { organizationId, apikey, service }
}

/** Bytes of which each generated sample is a part. A dump compresses parts of 1 MiB as little as real, encrypted samples. */
const NOISE_BYTES = 2 ** 20
const STEP = 50_000

interface Growth {
  readonly references: number
  readonly attempts: number
  readonly say: (line: string) => void
}

/** Adds reference patterns of generated people, and attempts with their replay marks and samples. */
async function grow(url: string, organizationId: string, { references, attempts, say }: Growth): Promise<void> {
  const people = Math.ceil(references / REFERENCES)
  const noise = randomBytes(NOISE_BYTES)
  const sql = postgres(url, { max: 1, fetch_types: false, onnotice: () => {} })
  try {
    const bytes = await sampleBytes(sql)
    await fillDatabase(url, organizationId, {
      users: [1, people],
      attempts: [1, attempts],
      marks: true,
      samples: { noise, bytes },
      say,
    })
    await sql`select set_config('role', 'keystride_system', false)`
    for (let from = 0; from < references; from += STEP) {
      await sql`
        insert into keystride.reference_pattern (organization_id, member_id, id, generation, mode, sealed, created_at)
        select ${organizationId}, md5('m' || (1 + i / ${REFERENCES}::int))::uuid, md5('r' || i)::uuid, 0, 'visible',
          substr(${noise}::bytea, 1 + floor(random() * ${NOISE_BYTES - bytes}::int)::int, ${bytes}::int),
          now() - random() * interval '300 days'
        from generate_series(${from}::int, ${Math.min(references, from + STEP) - 1}::int) i`
    }
    await sql`reset role`
    await sql`vacuum analyze keystride.reference_pattern`
  } finally {
    await sql.end()
  }
}

/** Mean size of the stored samples. */
async function sampleBytes(sql: postgres.Sql): Promise<number> {
  return sql.begin(async (open) => {
    await open`set local role keystride_system`
    const [row] = await open<{ bytes: number }[]>`
      select avg(octet_length(sealed))::int as bytes from keystride.reference_pattern`
    if (row === undefined) throw new Error('an average came back without its row')
    return row.bytes
  })
}
