import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sharedDatabase } from '../../../servers/database.js'

/**
 * Properties that Citus refuses in a table distributed by `organization_id`, from the catalogue: one row a violation, `what`
 * and the rule. From its documentation and its checks of constraints, foreign keys, triggers and sequences (version 12).
 * Nothing here has run on Citus.
 */
const LINT = `
  with tables as (
    select c.oid, c.relname, c.relkind, c.relispartition, a.attnum, a.attnotnull, format_type(a.atttypid, null) as type
    from pg_class c left join pg_attribute a on a.attrelid = c.oid and a.attname = 'organization_id' and not a.attisdropped
    where c.relnamespace = 'keystride'::regnamespace and c.relkind in ('r', 'p')
  )
  select relname as what, 'has no organization_id of type uuid that is never null' as rule from tables
    where attnum is null or type <> 'uuid' or not attnotnull
  union all
  select u.relname, 'is unique without organization_id' from pg_index i join tables t on t.oid = i.indrelid
    join pg_class u on u.oid = i.indexrelid where i.indisunique and not coalesce(t.attnum = any(i.indkey::int2[]), false)
  union all
  select conname, 'excludes without organization_id =' from pg_constraint c join tables t on t.oid = c.conrelid
    where contype = 'x' and not exists (
      select from unnest(conkey, conexclop) as part(key, operator)
      where key = t.attnum and operator::regoperator::text like '=%')
  union all
  select conname, 'refers without organization_id in the same place on both sides' from pg_constraint c
    join tables t on t.oid = c.conrelid left join tables r on r.oid = c.confrelid
    where contype = 'f' and conparentid = 0
      and not coalesce(array_position(conkey, t.attnum) = array_position(confkey, r.attnum), false)
  union all
  select conname, 'changes organization_id of what refers' from pg_constraint c join tables t on t.oid = c.conrelid
    where contype = 'f' and (confdeltype in ('n', 'd') or confupdtype in ('n', 'd', 'c'))
  union all
  select t.relname || '.' || a.attname, 'counts by a sequence, which every worker would have' from tables t
    join pg_attribute a on a.attrelid = t.oid and a.attnum > 0 and not a.attisdropped
    left join pg_attrdef d on d.adrelid = t.oid and d.adnum = a.attnum
    where a.attidentity <> '' or pg_get_expr(d.adbin, d.adrelid) like '%nextval%'
  union all
  select t.relname || '.' || g.tgname, case when g.tgtype & 1 = 0 then 'is a trigger a statement'
      else 'is a trigger, which wants citus.enable_unsafe_triggers' end
    from pg_trigger g join tables t on t.oid = g.tgrelid where not g.tgisinternal and g.tgparentid = 0
  union all
  select relname, 'is a partition with partitions' from tables where relkind = 'p' and relispartition
  union all
  select c.relname, 'inherits otherwise than as a partition' from pg_inherits i join tables c on c.oid = i.inhrelid
    where not c.relispartition
  union all
  select r.rulename, 'is a rule' from pg_rewrite r join tables t on t.oid = r.ev_class
  order by 1, 2`

/** Row triggers read and write rows of their own organization alone, which lie on the same worker. */
const WANTS = 'is a trigger, which wants citus.enable_unsafe_triggers'
/** They prevent a truncate by the owner; on Citus they are dropped, because the login of the service may not truncate there. */
const DROPPED = 'is a trigger a statement'

/** Refused parts of the schema by name; docs/scaling.md has the remedy for each kind. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  'account.count_account': WANTS,
  'account.move_row_versions': WANTS,
  'account.total_account': WANTS,
  'admin_action.append_only': WANTS,
  'admin_action.append_only_whole': DROPPED,
  'headcount.note_overage': WANTS,
  'member.count_member': WANTS,
  'member.keep_locks': WANTS,
  'member.keep_locks_of_renamed': WANTS,
  'member.move_row_version': WANTS,
  'member.note_enrollment': WANTS,
  'member.note_reset': WANTS,
  'notification.queue_deliveries': WANTS,
  'organization.count_organization': WANTS,
  'organization.note_overage': WANTS,
  'usage_event.append_only': WANTS,
  'usage_event.append_only_in_use': WANTS,
  'usage_event.append_only_whole': DROPPED,
}

const PLANTED: readonly { readonly made: string; readonly found: Record<string, string> }[] = [
  {
    made: 'create table keystride.planted (id uuid)',
    found: { planted: 'has no organization_id of type uuid that is never null' },
  },
  {
    made: 'create table keystride.planted (organization_id uuid not null, id uuid primary key)',
    found: { planted_pkey: 'is unique without organization_id' },
  },
  {
    made: `create table keystride.planted (organization_id uuid not null, period tstzrange,
      constraint planted_period exclude using gist (period with &&))`,
    found: { planted_period: 'excludes without organization_id =' },
  },
  {
    made: `create table keystride.planted (organization_id uuid not null, account_id uuid, other uuid,
      constraint planted_place foreign key (other, account_id) references keystride.account (organization_id, id))`,
    found: { planted_place: 'refers without organization_id in the same place on both sides' },
  },
  {
    made: `create table keystride.planted (organization_id uuid not null, account_id uuid, constraint planted_null
      foreign key (organization_id, account_id) references keystride.account (organization_id, id) on delete set null)`,
    found: { planted_null: 'changes organization_id of what refers' },
  },
  {
    made: 'create table keystride.planted (organization_id uuid not null, n bigint generated always as identity)',
    found: { 'planted.n': 'counts by a sequence, which every worker would have' },
  },
  {
    made: `create trigger planted before truncate on keystride.member
      for each statement execute function suppress_redundant_updates_trigger()`,
    found: { 'member.planted': DROPPED },
  },
  {
    made: `create trigger planted before update on keystride.member
      for each row execute function suppress_redundant_updates_trigger()`,
    found: { 'member.planted': WANTS },
  },
  {
    made: `create table keystride.planted partition of keystride.authentication
      for values from ('ffffffff-0000-0000-0000-000000000000') to ('ffffffff-ffff-0000-0000-000000000000')
      partition by hash (organization_id)`,
    found: { planted: 'is a partition with partitions' },
  },
  {
    made: 'create table keystride.planted () inherits (keystride.session)',
    found: { planted: 'inherits otherwise than as a partition' },
  },
  {
    made: 'create rule planted as on delete to keystride.session do instead nothing',
    found: { planted: 'is a rule' },
  },
]

describe('the schema, as Citus would distribute it by organization', () => {
  let client: pg.Client
  const violations = async (): Promise<Record<string, string>> =>
    Object.fromEntries((await client.query(LINT)).rows.map(({ what, rule }) => [what, rule]))
  beforeAll(async () => {
    client = new pg.Client({ connectionString: (await sharedDatabase()).url })
    await client.connect()
  })
  afterAll(() => client.end())

  it('breaks only the rules of Citus that the list of exceptions names', async () => {
    expect(await violations()).toEqual(EXCEPTIONS)
  })

  it.each(PLANTED)('is found to break a rule with: $made', async ({ made, found }) => {
    await client.query('begin')
    try {
      await client.query(made)
      expect(await violations()).toEqual({ ...EXCEPTIONS, ...found })
    } finally {
      await client.query('rollback')
    }
  })
})
