import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bodyOf, ENROLLED_PRESSES } from '../../../bench/ratio/people.js'
import { fillHistories, type Histories } from '../../../bench/shared/histories.js'
import { readConfig } from '../../../src/process/config.js'
import { jsonLog } from '../../../src/process/log.js'
import { openStores } from '../../../src/wiring/open-stores.js'
import { startService, type TestService } from '../../harness/service.js'
import { ownDatabase } from '../../servers/database.js'

const { url } = await ownDatabase()
const [PEOPLE, ATTEMPTS] = [5, 3]
let service: TestService
let histories: Histories
let stores: Awaited<ReturnType<typeof openStores>>
const sql = postgres(url, { max: 1, fetch_types: false })

beforeAll(async () => {
  service = await startService(url)
  stores = await openStores(readConfig(service.env), jsonLog('silent'), { redis: true, schema: 'migrate' })
  const { organizationId, apikey } = service
  const port = Number(new URL(service.core).port)
  const filled = { databaseUrl: url, organizationId, apikey, stores }
  histories = await fillHistories(filled, { port, people: PEOPLE, attempts: ATTEMPTS, first: 0, say: () => {} })
})
afterAll(async () => {
  await sql.end()
  await stores.close()
  await service.close()
})

const rows = (statement: string) =>
  sql.begin(async (system) => {
    await system`set local role keystride_system`
    return system.unsafe<Record<string, unknown>[]>(statement)
  })

describe('people with a history', () => {
  it('have the rows of real sign-ins in order of time', async () => {
    const found = await rows(`
      select m.attempts_version::int as version, m.completed_at < min(a.created_at) as enrolled_before,
        m.last_success_at = max(a.created_at) as lasts, count(distinct a.id)::int as attempts,
        count(distinct r.id)::int as references, count(distinct k.exact)::int as marks,
        bool_and(keystride.time_of(a.id) = a.created_at) as timed, bool_and(a.facts like '%' || r.id || '%') as own_references
      from keystride.member m
        join keystride.authentication a on a.member_id = m.id
        join keystride.reference_pattern r on r.member_id = m.id
        join keystride.replay_mark k on k.member_id = m.id
      where m.member_ref like 'history-%' group by m.organization_id, m.id`)
    const row = {
      version: ATTEMPTS,
      enrolled_before: true,
      lasts: true,
      attempts: ATTEMPTS,
      references: 5,
      marks: 5 + ATTEMPTS,
    }
    expect([...found]).toEqual(Array.from({ length: PEOPLE }, () => ({ ...row, timed: true, own_references: true })))
    const [bands] = await rows(
      'select count(*)::int as all, count(distinct b)::int as distinct from keystride.replay_mark, unnest(bands) b',
    )
    expect(bands?.distinct).toBe(bands?.all)
  })

  it('are counted', async () => {
    const [counted] = await rows(
      'select sum(n)::int as n from keystride.user_total where days = 90 and user_ref like $$history-%$$',
    )
    expect(counted).toEqual({ n: PEOPLE * ATTEMPTS })
  })

  it('leave triggers and row level security as they were', async () => {
    const [left] = await rows(`
      select (select count(*)::int from pg_trigger where tgenabled = 'D') as disabled,
        (select count(*)::int from pg_class where relname in ('account', 'member', 'reference_pattern', 'authentication', 'replay_mark')
          and relforcerowsecurity and relkind in ('r', 'p')) as forced,
        to_regclass('keystride.replay_mark_bands') is not null as bands`)
    expect(left).toEqual({ disabled: 0, forced: 5, bands: true })
  })

  it('sign in with new typing, and not with that of their history', async () => {
    const signIn = async (n: number, ordinal: number) => {
      const { session } = await service.bootstrap(histories.userRefOf(n))
      const body = JSON.parse(bodyOf(histories.typistOf(n), ordinal, ENROLLED_PRESSES))
      return (await service.call('POST', `/users/${histories.userRefOf(n)}/verify`, { session, body })).json
    }
    const found: string[] = []
    for (let n = 0; n < PEOPLE; n++) found.push((await signIn(n, histories.typedFrom + n)).action)
    // Made-up typing is sometimes taken for a machine's.
    expect(found.filter((action) => action === 'verified').length).toBeGreaterThan(PEOPLE / 2)
    expect((await signIn(0, histories.typedFrom - 1)).action).toBe('rejected')
  })
})
