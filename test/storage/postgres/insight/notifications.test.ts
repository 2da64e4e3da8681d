import pg from 'pg'
import { v7 as uuid } from 'uuid'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { afterFailure, NO_ATTEMPTS } from '../../../../src/domain/attempts.js'
import type { Authentication } from '../../../../src/storage/authentication.js'
import { postgresAuthentications } from '../../../../src/storage/postgres/attempt/authentication.js'
import type { Database } from '../../../../src/storage/postgres/connection/client.js'
import { postgresAlerts } from '../../../../src/storage/postgres/insight/alerts.js'
import { postgresNotifications } from '../../../../src/storage/postgres/insight/notifications.js'
import { postgresOutbox } from '../../../../src/storage/postgres/insight/outbox.js'
import { postgresUsage } from '../../../../src/storage/postgres/insight/usage.js'
import { postgresOrganizations } from '../../../../src/storage/postgres/organization/organization.js'
import { postgresAccounts } from '../../../../src/storage/postgres/person/account.js'
import { postgresProfiles } from '../../../../src/storage/postgres/person/profile.js'
import { attempt, organization, type Person, person, reference } from '../../../harness/fixtures.js'
import { ownDatabase } from '../../../servers/database.js'

const { database, url } = await ownDatabase(8)
let org: string
beforeEach(async () => {
  org = await organization(database)
})

const notifications = () => postgresNotifications(database)
const all = { kind: null, read: null }
const told = async (of = org) => (await notifications().page(of, all, { skip: 0, limit: 500 })).notifications
async function derive(since: number | null = null) {
  for (let n = 0; await notifications().derive(since); n++) if (n > 50) throw new Error('it does not end')
}

let lastAt = 0
/** A distinct millisecond per attempt: the list is by time, and ids of this test have no order within a millisecond. */
const oneAfterAnother = () => {
  lastAt = Math.max(Date.now(), lastAt + 1)
  return lastAt
}

/** A failed attempt; `version` counts the attempts of the person before it. */
async function fail(who: Person, version: number, changes: Partial<Authentication> = {}, at = oneAfterAnother()) {
  const made = attempt(who, {
    attemptsVersion: version,
    generation: 0,
    id: uuid({ msecs: at }),
    createdAt: at,
    authenticated: false,
    recommendedAction: 'block',
    patternId: null,
    sealed: null,
    replayMark: null,
    ...changes,
  })
  expect(await postgresAuthentications(database).record(org, made)).toBe('recorded')
  return made.id
}
const failCode = (who: Person, version = 0, at = oneAfterAnother()) =>
  fail(who, version, { method: 'security_code' }, at)

/** `n` blocked attempts of one person, in one statement. */
async function manyBlocked(who: Person, n: number) {
  await database.asSystem(
    (sql) => sql`
      insert into keystride.authentication (organization_id, id, created_at, account_id, member_id, user_ref, member_ref,
        account_type, session_id, method, authenticated, recommended_action, reason, confidence, confidence_biometrics,
        policy_id, n_patterns_ref, n_patterns_ref_used, events)
      select ${org}, keystride.new_id(now()), now(), ${who.accountId}, ${who.memberId}, ${who.userRef}, ${who.userRef},
        'nominative', '', 'biometric', false, 'block', '', 0, 0, gen_random_uuid(), 5, 5, '[{"kind": "blocked"}]'
      from generate_series(1, ${n})`,
  )
}

describe('notifications of attempts', () => {
  it('are one for each event, in any number of runs and processes', async () => {
    const ada = await person(database, org)
    const ids: string[] = []
    for (let n = 0; n < 12; n++) ids.push(await fail(ada, n))
    await Promise.all(Array.from({ length: 8 }, () => notifications().derive(null)))
    await derive()
    await derive(Date.now() - 3600_000)
    const found = await told()
    expect(found.map(({ authenticationId }) => authenticationId)).toEqual(ids.reverse())
    expect(found[0]).toMatchObject({ kind: 'blocked', userRef: 'ada', memberRef: 'ada', readAt: null })
  })

  it('are two for an attempt that locks: one for its verdict, one for the lock', async () => {
    const ada = await person(database, org)
    let counters = NO_ATTEMPTS
    for (let n = 0; n < 5; n++) counters = afterFailure(counters, 'biometric', Date.now())
    const blocked = { authenticated: false, recommendedAction: 'block', reason: 'detection-bot' } as const
    const made = attempt(ada, { ...blocked, counters, replayMark: null, createdAt: Date.now() })
    await postgresAuthentications(database).record(org, made)
    await derive()
    const found = await told()
    expect(found.map(({ kind }) => kind).sort()).toEqual(['bot', 'locked'])
    expect(found.find(({ kind }) => kind === 'locked')?.details).toEqual({ until: counters.biometric.closedUntil })
  })

  it('include attempts that were committed long after their id was made', async () => {
    const ada = await person(database, org)
    await fail(ada, 0)
    await derive()
    const late = await fail(ada, 1, {}, Date.now() - 40_000)
    await derive()
    expect((await told()).map(({ authenticationId }) => authenticationId)).toContain(late)
    // Committed two hours after its id: found by the sweep of the last day.
    const later = await fail(ada, 2, {}, Date.now() - 2 * 3600_000)
    await database.asSystem((sql) => sql`update keystride.alerting set derived_until = now() - interval '1 minute'`)
    await derive()
    expect((await told()).map(({ authenticationId }) => authenticationId)).not.toContain(later)
    await derive(Date.now() - 24 * 3600_000)
    expect((await told()).map(({ authenticationId }) => authenticationId)).toContain(later)
    expect(await told()).toHaveLength(3)
  })

  // Regression: a concurrent deletion broke a foreign key, and with it all alerts.
  it('skip an account that is being deleted, wait for no lock, and are made later if it stays', async () => {
    const [ada, bo] = [await person(database, org), await person(database, org, 'bo')]
    const ofAda = await fail(ada, 0, {}, Date.now() - 300_000)
    const ofBo = await fail(bo, 0, {}, Date.now() - 300_000)
    const deletion = new pg.Client({ connectionString: url })
    await deletion.connect()
    await deletion.query('begin')
    await deletion.query('set local role keystride_system')
    await deletion.query('select from keystride.account where id = $1 for update', [ada.accountId])
    await derive()
    expect((await told()).map(({ authenticationId }) => authenticationId)).toEqual([ofBo])
    await deletion.query('rollback')
    await deletion.end()
    await derive()
    expect((await told()).map(({ authenticationId }) => authenticationId).sort()).toEqual([ofAda, ofBo].sort())
  })

  it('are neither lost nor doubled if the process that makes them dies', async () => {
    const ada = await person(database, org)
    await manyBlocked(ada, 700)
    for (let n = 0; n < 3; n++) {
      const client = new pg.Client({ connectionString: url })
      client.on('error', () => {})
      await client.connect()
      await client.query('begin')
      const made = await client.query('select keystride.derive_notifications(null) as more')
      expect(made.rows).toEqual([{ more: n < 2 }])
      await expect(client.query('select pg_terminate_backend(pg_backend_pid())')).rejects.toThrow()
      await client.end().catch(() => {})
      if (n === 1) await notifications().derive(null)
    }
    await derive()
    expect((await notifications().page(org, all, { skip: 0, limit: 1 })).count).toBe(700)
  })
})

describe('failed codes of many members', () => {
  async function people(n: number): Promise<Person[]> {
    const made: Person[] = []
    for (let i = 0; i < n; i++) made.push(await person(database, org, `p${i}`))
    return made
  }
  const whole = async () => (await told()).filter(({ userRef }) => userRef === null)

  it.each([
    { limit: '5 % of its members', made: 60, nMembers: 60, most: 3 },
    { limit: '50, for any number of members', made: 52, nMembers: 5000, most: 50 },
  ])('are reported once for the organization, above $limit', async ({ made, nMembers, most }) => {
    const tried = await people(made)
    await database.asSystem(async (sql) => {
      await sql`delete from keystride.headcount_change where organization_id = ${org}`
      await sql`update keystride.headcount set n_users_nominative = ${nMembers} where organization_id = ${org}`
    })
    for (const one of tried.slice(0, most)) await failCode(one)
    await derive()
    expect(await whole()).toEqual([])
    for (const n of [1, 2]) {
      await failCode(tried[most + n - 1] as Person)
      await derive()
      expect(await whole()).toMatchObject([{ kind: 'security-code-locked', details: { nFailed: most + 1, nMembers } }])
    }
  })

  it('are not reported for two of a few members, one repeating member, or more than ten minutes', async () => {
    const few = await people(20)
    for (const [n, one] of few.slice(0, 2).entries()) for (let i = 0; i < 4; i++) await failCode(one, i, Date.now() - n)
    await derive()
    expect(await whole()).toEqual([])
    const now = Date.now()
    for (const [n, one] of few.slice(2, 8).entries()) await failCode(one, 0, now - 11 * 60_000 * (n + 1))
    await derive()
    expect(await whole()).toEqual([])
  })
})

describe('notifications of other events', () => {
  it('report a reset and the removal of the last reference once each', async () => {
    const ada = await person(database, org)
    const profiles = postgresProfiles(database)
    await profiles.reset(org, ada.memberId, Date.now())
    expect(await told()).toMatchObject([{ kind: 'profile-reset', userRef: 'ada' }])
    const [one, two] = [reference(ada.memberId, undefined, 1), reference(ada.memberId, undefined, 1)]
    const rules = { target: 5, limit: 10, rejectReplay: true }
    await profiles.add(org, one, rules)
    await profiles.add(org, two, rules)
    await profiles.removeOne(org, ada.memberId, one.id)
    expect(await told()).toHaveLength(1)
    await profiles.removeOne(org, ada.memberId, two.id)
    expect((await told()).map(({ kind }) => kind)).toEqual(['profile-reset', 'profile-reset'])
  })

  it('report each completed profile once, in its commit, and only to an organization with a rule for it', async () => {
    const profiles = postgresProfiles(database)
    const rules = { target: 3, limit: 10, rejectReplay: true }
    const enroll = async (who: Person, n: number, generation = 0) => {
      const added = Array.from({ length: n }, () =>
        profiles.add(org, reference(who.memberId, undefined, generation), rules),
      )
      expect((await Promise.all(added)).filter(({ outcome }) => outcome === 'added')).toHaveLength(n)
    }
    await enroll(await person(database, org, 'before'), 3)
    expect(await told()).toEqual([])

    await postgresAlerts(database).changeRules(org, { 'enrollment-completed': { webhook: true } })
    const ada = await person(database, org)
    await enroll(ada, 2)
    expect(await told()).toEqual([])
    await enroll(ada, 8)
    const details = { accountType: 'nominative', nPatternsRef: 3 }
    expect(await told()).toMatchObject([{ kind: 'enrollment-completed', userRef: 'ada', memberRef: 'ada', details }])
    expect(await notifications().unread(org)).toBe(0)

    const rolledBack = database.scoped(org, async (sql) => {
      await sql`
        update keystride.member set completed_at = now(), profile_version = profile_version + 1
        where organization_id = ${org} and id = ${ada.memberId}`
      const found = await sql`select 1 from keystride.notification where kind = 'enrollment-completed'`
      expect(found).toHaveLength(2)
      throw new Error('the process fails before the commit')
    })
    await expect(rolledBack).rejects.toThrow('before the commit')
    expect(await told()).toHaveLength(1)

    await profiles.reset(org, ada.memberId, Date.now())
    await enroll(ada, 3, 1)
    expect((await told()).map(({ kind }) => kind)).toEqual([
      'enrollment-completed',
      'profile-reset',
      'enrollment-completed',
    ])
    await postgresAlerts(database).changeRules(org, { 'enrollment-completed': { webhook: false } })
    await enroll(await person(database, org, 'after'), 3)
    expect(await told()).toHaveLength(3)
  })

  it('report the beginning of an overage, by a creation or by a lower quota', async () => {
    const organizations = postgresOrganizations(database)
    const quotas = { mode: 'soft', accounts: 2, sharedAccounts: 0, membersPerSharedAccount: 0 } as const
    await organizations.setQuotas(org, quotas)
    const come = async (...names: string[]) => {
      for (const name of names) await person(database, org, name)
      while (await postgresUsage(database).addUpHeadcounts()) {
        // More changes are left.
      }
    }
    await come('a', 'b')
    expect(await told()).toEqual([])
    await come('c', 'd')
    await come('e')
    const over = { kind: 'quota-overage', userRef: null }
    expect(await told()).toMatchObject([{ ...over, details: { of: 'accounts', n: 4, licensed: 2 } }])
    await organizations.setQuotas(org, { ...quotas, accounts: 10 })
    await organizations.setQuotas(org, { ...quotas, accounts: 3 })
    await organizations.setQuotas(org, { ...quotas, accounts: 1 })
    expect(await told()).toMatchObject([{ ...over, details: { n: 5, licensed: 3 } }, { details: { n: 4 } }])
  })

  it('report an outage once, to organizations with a rule, whichever processes saw it and when', async () => {
    const other = await organization(database)
    await postgresAlerts(database).changeRules(org, { degraded: { syslog: true } })
    const began = Date.now() - 60_000
    const seen = Array.from({ length: 8 }, (_, n) =>
      notifications().noteOutage(began + 300 * n, began + 9000 + 400 * n),
    )
    await Promise.all(seen)
    await notifications().noteOutage(began, began + 9000)
    expect(await told()).toMatchObject([{ kind: 'degraded', userRef: null }])
    await notifications().noteOutage(began + 40_000, began + 41_000)
    expect(await told()).toHaveLength(2)
    expect(await told(other)).toEqual([])
    await postgresAlerts(database).changeRules(org, { degraded: { syslog: false } })
    await notifications().noteOutage(began - 600_000, began - 500_000)
    expect(await told()).toHaveLength(2)
  })
})

describe('the outbox', () => {
  const place = { host: '127.0.0.1', port: 514, transport: 'udp' } as const
  const settings = { channel: 'syslog', ...place, facility: 'auth', app_name: 'k' } as const
  beforeEach(async () => {
    await postgresAlerts(database).changeRules(org, { blocked: { syslog: true, email: true } })
    await postgresAlerts(database).setChannel(org, { settings, secret: null })
  })
  /** Waiting deliveries of other tests are dropped. */
  afterEach(() => postgresAlerts(database).removeChannel(org, 'syslog'))
  const claimed = async (most = 50) =>
    (await postgresOutbox(database).claim(most)).filter(({ organizationId }) => organizationId === org)
  const settle = (
    one: { organizationId: string; id: string },
    next: Parameters<ReturnType<typeof postgresOutbox>['settle']>[2],
  ) => postgresOutbox(database).settle(one, { at: Date.now(), outcome: 'x', durationMs: 1 }, next)

  it('has the notifications with a rule and a channel, and gives each to one process', async () => {
    await manyBlocked(await person(database, org), 8)
    await derive()
    const both = (await Promise.all([claimed(), claimed(), claimed()])).flat()
    expect(new Set(both.map(({ id }) => id)).size).toBe(8)
    expect(both).toHaveLength(8)
    const found = await postgresOutbox(database).find(both[0] as (typeof both)[0])
    const event = { kind: 'blocked', userRef: 'ada' }
    expect(found).toMatchObject({ settings, secret: null, refusals: 0, failures: 0, event })
  })

  it('delays all deliveries of a failed channel, tries it with one, and resumes when it is set again', async () => {
    await manyBlocked(await person(database, org), 8)
    await derive()
    const [first, ...rest] = await claimed()
    for (const one of rest) await settle(one, { state: 'waiting', channelForMs: 0 })
    expect(await claimed()).toHaveLength(1)
    await settle(first as NonNullable<typeof first>, { state: 'waiting', channelForMs: 60_000 })
    expect(await claimed()).toEqual([])
    await postgresAlerts(database).setChannel(org, { settings, secret: null })
    expect((await claimed()).length).toBeGreaterThan(5)
  })

  it('keeps at most 1,000 waiting', async () => {
    await manyBlocked(await person(database, org), 1100)
    await derive()
    const states = await database.scoped(
      org,
      (sql) => sql`select state, count(*)::int as n from keystride.alert_delivery group by 1 order by 1`,
    )
    expect([...states]).toEqual([
      { state: 'dropped', n: 100 },
      { state: 'waiting', n: 1000 },
    ])
  })

  it('is deleted with the account, including every attempt, during concurrent writes', async () => {
    const rows = (sql: Parameters<Parameters<Database['scoped']>[1]>[0]) => sql`
      select (select count(*)::int from keystride.notification) as notifications,
        (select count(*)::int from keystride.alert_delivery) as deliveries,
        (select count(*)::int from keystride.alert_attempt) as tries`
    for (let round = 0; round < 8; round++) {
      const eve = await person(database, org, 'eve')
      await manyBlocked(eve, 40)
      if (round === 0) {
        await derive()
        for (const one of await claimed()) await settle(one, { state: 'delivered' })
        expect((await database.scoped(org, rows))[0]).toEqual({ notifications: 40, deliveries: 40, tries: 10 })
        await postgresAccounts(database).remove(org, 'eve')
      } else {
        // A run that conflicts with the removal fails as a whole, and the next one repeats it.
        const running = [
          notifications()
            .derive(null)
            .catch(() => {}),
          postgresAccounts(database).remove(org, 'eve'),
        ]
        await Promise.all(round % 2 === 0 ? running : running.reverse())
      }
      await derive()
      expect((await database.scoped(org, rows))[0]).toEqual({ notifications: 0, deliveries: 0, tries: 0 })
    }
  })
})
