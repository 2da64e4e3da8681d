import pg from 'pg'
import { describe, expect, it } from 'vitest'
import { postgresAlerts } from '../../../../src/storage/postgres/insight/alerts.js'
import { postgresAccounts } from '../../../../src/storage/postgres/person/account.js'
import { postgresProfiles } from '../../../../src/storage/postgres/person/profile.js'
import { NOW, organization, type Person, person, reference } from '../../../harness/fixtures.js'
import { until } from '../../../harness/patience.js'
import { ownDatabase } from '../../../servers/database.js'

const { database, url } = await ownDatabase(12)
const org = await organization(database)

const slide = () => database.call((sql) => sql`select keystride.slide_totals()`, { patienceMs: 20_000 })
const remove = ({ userRef }: Person) => postgresAccounts(database).remove(org, userRef)

describe('the deletion of an account', () => {
  it('does not stop the totals of other users, which begin during it', async () => {
    const leaves = await person(database, org, 'leaves')
    const stays = await person(database, org, 'stays')
    // The first totals are made for all users at once.
    await database.asSystem((sql) => sql`delete from keystride.user_total`)
    const deleting = new pg.Client(url)
    await deleting.connect()
    await deleting.query('begin')
    await deleting.query('set local role keystride_app')
    await deleting.query('select set_config($1, $2, true)', ['keystride.organization_id', org])
    await deleting.query('delete from keystride.member where id = $1', [leaves.memberId])
    await deleting.query('delete from keystride.account where id = $1', [leaves.accountId])
    const slid = slide()
    await until(async () => {
      const { rows } = await deleting.query("select from pg_locks where not granted and locktype = 'transactionid'")
      return rows.length > 0
    })
    await deleting.query('commit')
    await deleting.end()
    await slid
    const totaled = await database.asSystem(
      (sql) => sql<{ account: string }[]>`select distinct account_id as account from keystride.user_total`,
    )
    expect(totaled.map(({ account }) => account)).toEqual([stays.accountId])
  })

  it('never deadlocks with concurrent changes of profiles, totals and deletions', async () => {
    const profiles = postgresProfiles(database)
    // Each first reference completes its profile, which writes a notification.
    const rules = { limit: 5, target: 1, rejectReplay: true }
    await postgresAlerts(database).changeRules(org, { 'enrollment-completed': { webhook: true } })
    for (let round = 0; round < 12; round++) {
      const people = await Promise.all(Array.from({ length: 12 }, (_, i) => person(database, org, `p-${round}-${i}`)))
      const changes = people.flatMap((one) => [
        profiles.add(org, reference(one.memberId), rules),
        profiles.reset(org, one.memberId, NOW),
        profiles.add(org, reference(one.memberId), rules),
        remove(one),
        profiles.reset(org, one.memberId, NOW),
      ])
      const ended = await Promise.allSettled([...changes, slide(), slide()])
      expect(ended.filter(({ status }) => status === 'rejected')).toEqual([])
    }
    const [row] = await database.asSystem(
      (sql) => sql<{ n: number }[]>`
        select deadlocks::int as n from pg_stat_database where datname = current_database()`,
    )
    expect(row?.n).toBe(0)
  }, 60_000)
})
