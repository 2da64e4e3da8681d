import postgres from 'postgres'
import { v7 as uuid } from 'uuid'
import { beforeEach, describe, expect, it } from 'vitest'
import { seededRandom } from '../../../../src/calibration/random.js'
import { afterFailure, NO_ATTEMPTS } from '../../../../src/domain/attempts.js'
import { NO_QUOTAS, type Quotas } from '../../../../src/domain/organization.js'
import type { NewAccount } from '../../../../src/storage/account.js'
import { postgresAuthentications } from '../../../../src/storage/postgres/attempt/authentication.js'
import { connectPostgres } from '../../../../src/storage/postgres/connection/client.js'
import { observedDatabase } from '../../../../src/storage/postgres/connection/observed-database.js'
import { postgresUsage } from '../../../../src/storage/postgres/insight/usage.js'
import { postgresOrganizations } from '../../../../src/storage/postgres/organization/organization.js'
import { postgresAccounts } from '../../../../src/storage/postgres/person/account.js'
import { postgresProfiles } from '../../../../src/storage/postgres/person/profile.js'
import { figure, LONG } from '../../../harness/figure.js'
import { attempt, NOW, organization, reference } from '../../../harness/fixtures.js'
import { sharedDatabase } from '../../../servers/database.js'

const { url, database } = await sharedDatabase()
const accounts = postgresAccounts(database)
let org: string
beforeEach(async () => {
  org = await organization(database)
})

/** Events of a ledger, and number of alterations. */
const [EVENTS, ALTERED] = LONG ? [100_000, 1_000] : [200, 20]

const quotas = (changes: Partial<Quotas>) =>
  postgresOrganizations(database).setQuotas(org, { ...NO_QUOTAS, mode: 'strict', ...changes })

const newAccount = (
  userRef: string,
  type: 'nominative' | 'generic' = 'nominative',
  memberRef: string | null = userRef,
): NewAccount => ({
  id: uuid(),
  userRef,
  type,
  displayName: null,
  member: memberRef === null ? null : { id: uuid(), memberRef, displayName: null, createdAt: NOW },
  createdAt: NOW,
})
const create = (...who: Parameters<typeof newAccount>) => accounts.create(org, newAccount(...who))
const newMember = () => ({ id: uuid(), displayName: null, createdAt: NOW })
const add = (userRef: string, memberRef: string) =>
  accounts.change(org, userRef, () => ({ settings: {}, move: { kind: 'add', memberRef }, newMember: newMember() }))
const ledger = () =>
  database.scoped(
    org,
    (sql) => sql`
      select kind, n_accounts, n_accounts_generic, n_users_nominative, n_users_generic, over_quota
      from keystride.usage_event where organization_id = ${org} order by n`,
  )
const counts = async () => {
  const { headcount } = (await postgresOrganizations(database).license(org)) ?? {}
  return [headcount?.nAccounts, headcount?.nAccountsGeneric, headcount?.nUsers]
}
const kindOf = (error: unknown) => (error as { kind?: string }).kind
/** Retries: on a busy machine, some of many concurrent calls are refused as degraded. */
async function insisting<T>(call: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await call()
    } catch (error) {
      if (kindOf(error) !== 'degraded') throw error
    }
  }
}

describe('quotas', () => {
  it('admit exactly one of 200 concurrent creations if one place is left', async () => {
    await create('first')
    await quotas({ accounts: 2 })
    const all = await Promise.allSettled(Array.from({ length: 200 }, (_, i) => insisting(() => create(`one-of-${i}`))))
    const made = all.filter(({ status }) => status === 'fulfilled').length
    figure('T34', `${made} created of ${all.length} for the last place`, '1', made === 1)
    for (const outcome of all) {
      if (outcome.status === 'fulfilled') continue
      expect(kindOf(outcome.reason), String(outcome.reason)).toBe('accounts-quota')
      expect(String(outcome.reason.message)).toMatch(/^ACCOUNTS_QUOTA_EXCEEDED: /)
    }
    expect(await counts()).toEqual([2, 0, 2])
  })

  it('admit exactly one of 200 concurrent members to a shared account with one place left', async () => {
    await create('desk', 'generic', 'ann')
    await quotas({ membersPerSharedAccount: 2 })
    const all = await Promise.allSettled(Array.from({ length: 200 }, (_, i) => insisting(() => add('desk', `m${i}`))))
    expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect((await accounts.roster(org, 'desk'))?.members).toHaveLength(2)
  })

  it('that refuse are no failures of the database, and its errors are', async () => {
    await create('desk', 'generic', 'ann')
    await create('solo')
    await quotas({ sharedAccounts: 1, membersPerSharedAccount: 1 })
    const failures: boolean[] = []
    const observer = { called: (...[, , failed]: [unknown, number, boolean]) => void failures.push(failed) }
    const observed = observedDatabase(database, { ...observer, waited: () => {}, committed: () => {} })
    const change = (userRef: string, kind: 'add' | 'to-generic') =>
      postgresAccounts(observed).change(org, userRef, () => ({
        settings: {},
        move: { kind, memberRef: 'cy' },
        newMember: newMember(),
      }))
    await expect(change('desk', 'add')).rejects.toMatchObject({ kind: 'members-quota' })
    await expect(change('solo', 'to-generic')).rejects.toMatchObject({ kind: 'shared-accounts-quota' })
    expect(failures.length).toBeGreaterThan(1)
    expect(failures).not.toContain(true)
    await expect(observed.asSystem((sql) => sql`select 1 / 0`)).rejects.toThrow()
    expect(failures.at(-1)).toBe(true)
  })

  it('count shared accounts separately, conversions included', async () => {
    await create('desk', 'generic', 'ann')
    await quotas({ sharedAccounts: 1 })
    await expect(create('desk-2', 'generic', 'bob')).rejects.toMatchObject({ kind: 'shared-accounts-quota' })
    await create('solo')
    const convert = accounts.change(org, 'solo', () => ({
      settings: {},
      move: { kind: 'to-generic', memberRef: 'cy' },
      newMember: newMember(),
    }))
    await expect(convert).rejects.toMatchObject({ kind: 'shared-accounts-quota' })
    expect((await accounts.find(org, 'solo', null))?.account.type).toBe('nominative')
    expect(await counts()).toEqual([2, 1, 2])
  })
})

describe('creations of one organization', () => {
  /** Runs `work` while another transaction locks the organization’s headcount. */
  const behindTheLine = <T>(work: () => Promise<T>): Promise<T> =>
    database.scoped(org, async (sql) => {
      await sql`select keystride.take_headcount_lock(${org}, true)`
      return await work()
    })

  it('wait for no lock if the quota is soft, strict without a limit, or used up', async () => {
    await create('first')
    expect((await behindTheLine(() => create('unlimited'))).created).toBe(true)
    await quotas({ mode: 'soft', accounts: 1 })
    expect((await behindTheLine(() => create('soft'))).created).toBe(true)
    await quotas({ membersPerSharedAccount: 1 })
    expect((await behindTheLine(() => create('strict'))).created).toBe(true)
    await quotas({ accounts: 4 })
    await expect(behindTheLine(() => create('refused'))).rejects.toMatchObject({ kind: 'accounts-quota' })
    expect((await behindTheLine(() => create('first'))).created).toBe(false)
    expect(await counts()).toEqual([4, 0, 4])
  })

  it('of another organization do not wait for a strict one whose headcount is locked', async () => {
    const strict = org
    await quotas({ accounts: 10 })
    const soft = await organization(database)
    let ended = ''
    const { waits } = await behindTheLine(async () => {
      // A waiter gives up after a second.
      const waits = insisting(() => accounts.create(strict, newAccount('waits'))).then(() => {
        ended += 'strict'
      })
      for (let n = 0; n < 20; n++) await accounts.create(soft, newAccount(`u${n}`))
      ended += 'soft '
      return { waits }
    })
    await waits
    expect(ended).toBe('soft strict')
  })

  it('are counted at once and added to the headcount and ledger by the job', async () => {
    for (let i = 0; i < 3; i++) await create(`u${i}`)
    const left = () => database.scoped(org, async (sql) => (await sql`select from keystride.headcount_change`).length)
    expect(await counts()).toEqual([3, 0, 3])
    expect(await left()).toBeGreaterThan(0)
    while (await postgresUsage(database).addUpHeadcounts()) {
      // More changes are left.
    }
    expect(await left()).toBe(0)
    await create('u3')
    await accounts.remove(org, 'u0')
    expect(await counts()).toEqual([3, 0, 3])
    expect(await ledger()).toMatchObject([{ kind: 'delete', n_accounts: 3, n_users_nominative: 3 }])
  })

  it('that are concurrent with one userRef make one account, in one process and in two', async () => {
    const other = connectPostgres({ url, max: 5, patience: 10 })
    const stores = [accounts, postgresAccounts(other)]
    const all = await Promise.all(
      Array.from({ length: 20 }, () => stores.map((one) => one.create(org, newAccount('twin')))).flat(),
    )
    await other.close()
    expect(all.filter(({ created }) => created)).toHaveLength(1)
    expect(new Set(all.map(({ account, member }) => `${account.id} ${member?.id}`)).size).toBe(1)
    expect(await counts()).toEqual([1, 0, 1])
  })
})

describe('the usage ledger', () => {
  it('has the totals after each completed profile, change of type, archiving and deletion', async () => {
    await quotas({ mode: 'soft', accounts: 1 })
    const { member } = await create('solo')
    const profiles = postgresProfiles(database)
    const rules = { target: 1, limit: 10, rejectReplay: true }
    await profiles.add(org, reference(member?.id ?? ''), rules)
    await create('desk', 'generic', 'ann')
    await add('desk', 'bob')
    await accounts.archiveMember(org, 'desk', 'bob', NOW)
    await accounts.change(org, 'desk', () => ({
      settings: {},
      move: { kind: 'to-nominative' },
      newMember: newMember(),
    }))
    await accounts.remove(org, 'solo')
    const columns = ['kind', 'n_accounts', 'n_accounts_generic', 'n_users_nominative', 'n_users_generic', 'over_quota']
    expect((await ledger()).map((row) => columns.map((column) => row[column]))).toEqual([
      ['enroll', 1, 0, 1, 0, false],
      ['delete', 2, 1, 1, 1, true],
      ['type-change', 2, 0, 2, 0, true],
      ['delete', 1, 0, 1, 0, false],
    ])
  })

  it('cannot be changed, shortened or emptied by a serving role', async () => {
    await create('gone')
    await accounts.remove(org, 'gone')
    const statements = [
      'insert into keystride.usage_event select * from keystride.usage_event',
      'update keystride.usage_event set n_accounts = 0',
      'delete from keystride.usage_event',
      'truncate keystride.usage_event',
      'alter table keystride.usage_event disable trigger all',
      'update keystride.headcount set n_accounts = 0',
    ]
    for (const statement of statements) {
      await expect(
        database.scoped(org, (sql) => sql.unsafe(statement)),
        statement,
      ).rejects.toThrow(/permission denied|must be owner/)
      const asSystem = database.asSystem((sql) => sql.unsafe(statement))
      if (!statement.startsWith('insert') && !statement.includes('headcount'))
        await expect(asSystem, statement).rejects.toThrow(/permission denied|must be owner/)
      else await asSystem.catch(() => {})
    }
    const events = (await ledger()).length
    const refused = `${statements.length} of ${statements.length} statements that alter the ledger refused, ${events} of 1 events kept`
    figure('T32', refused, 'all, 1', events === 1)
  })

  it(`shows any altered or deleted one of ${EVENTS} rows, ${ALTERED} times`, async () => {
    const owner = postgres(url, { max: 1 })
    await database.asSystem(
      (sql) => sql`
        insert into keystride.account (organization_id, id, user_ref, type, created_at)
        select ${org}, gen_random_uuid(), 'gone-' || i, 'nominative', now() from generate_series(1, ${EVENTS}::int) i`,
    )
    await database.asSystem((sql) => sql`delete from keystride.account where organization_id = ${org}`)
    const random = seededRandom(1)
    const changes = ['n_accounts = n_accounts + 1', 'n_users_nominative = 7', 'n_users_generic = 7', null] as const
    let noticed = 0
    for (let i = 0; i < ALTERED; i++) {
      const n = 1 + Math.floor(random() * EVENTS)
      const change = changes[i % changes.length]
      await owner
        .begin(async (sql) => {
          await sql`alter table keystride.usage_event disable trigger user`
          await sql`alter table keystride.usage_event disable row level security`
          const row = `where organization_id = '${org}' and n`
          if (change === null) await sql.unsafe(`delete from keystride.usage_event ${row} >= ${n}`)
          else await sql.unsafe(`update keystride.usage_event set ${change} ${row} = ${n}`)
          await sql`select set_config('keystride.organization_id', ${org}, true)`
          await sql`set local role keystride_app`
          const [found] = await sql`select keystride.broken_usage_event() as n`
          // If rows are deleted, the last one counts as missing.
          if (found?.n === String(change === null ? EVENTS : n)) noticed++
          throw new Error('taken back')
        })
        .catch((error: Error) => expect(error.message).toBe('taken back'))
    }
    await owner.end()
    const found = `${noticed} of ${ALTERED} altered rows found`
    figure('T32', found, 'all', noticed === ALTERED)
  })
})

describe('locks', () => {
  const locked = () => {
    let counters = NO_ATTEMPTS
    for (let i = 0; i < 6; i++) counters = afterFailure(counters, 'biometric', NOW)
    return counters
  }
  const lock = async (userRef: string, memberRef: string) => {
    const { account, member } = (await accounts.find(org, userRef, memberRef)) ?? {}
    if (account === undefined || member == null) throw new Error('nobody to lock')
    const who = { organizationId: org, accountId: account.id, memberId: member.id, userRef }
    const outcome = await postgresAuthentications(database).record(
      org,
      attempt(who, { counters: locked(), attemptsVersion: member.attemptsVersion, generation: member.generation }),
    )
    expect(outcome).toBe('recorded')
  }

  it('survive deletion and creation of the account for a day, without naming anybody', async () => {
    await create('eve')
    await lock('eve', 'eve')
    await accounts.remove(org, 'eve')
    const kept = await database.asSystem(
      (sql) => sql`select t::text as row from keystride.lock_tombstone t where organization_id = ${org}`,
    )
    expect(kept).toHaveLength(1)
    expect(JSON.stringify(kept)).not.toContain('eve')
    expect((await create('eve')).member?.attempts).toEqual(locked())
    await accounts.remove(org, 'eve')
    await database.asSystem(
      (sql) => sql`update keystride.lock_tombstone set kept_until = now() where organization_id = ${org}`,
    )
    expect((await create('eve')).member?.attempts).toEqual(NO_ATTEMPTS)
  })
})
