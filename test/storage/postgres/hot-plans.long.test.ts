import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { v7 as uuid } from 'uuid'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SAMPLE_FORMAT } from '../../../src/domain/sample-format.js'
import { postgresAuthentications } from '../../../src/storage/postgres/attempt/authentication.js'
import { postgresInvalidPatterns } from '../../../src/storage/postgres/attempt/invalid-patterns.js'
import { postgresSessions } from '../../../src/storage/postgres/attempt/session.js'
import { connectPostgres, type Database } from '../../../src/storage/postgres/connection/client.js'
import { postgresRetention } from '../../../src/storage/postgres/insight/retention.js'
import { postgresApiKeys } from '../../../src/storage/postgres/organization/api-key.js'
import { postgresAccounts } from '../../../src/storage/postgres/person/account.js'
import { postgresPendingActions } from '../../../src/storage/postgres/person/pending-action.js'
import { postgresProfiles } from '../../../src/storage/postgres/person/profile.js'
import { postgresSecurityCodes } from '../../../src/storage/postgres/person/security-code.js'
import { migrate } from '../../../src/storage/postgres/schema/migrate.js'
import { attempt, mark, NOW, organization, type Person, person, reference, sha256Hex } from '../../harness/fixtures.js'
import { until } from '../../harness/patience.js'
import {
  type ExplainingPostgres,
  type Read,
  readBy,
  startExplainingPostgres,
} from '../../servers/explaining-postgres.js'

/** Rows per table of one organization: a plan that reads all of them is far above every bound. */
const GROWN = 20_000
/** People of the organization in the old statistics. */
const SMALL = 20
const ROWS_MAX = 100
const PAGES_MAX = 400
/** The server keeps a generic plan from the sixth execution of a prepared statement on. */
const UNTIL_KEPT = 7
const RULES = { target: 5, limit: 10, rejectReplay: true }

let server: ExplainingPostgres
const open: { close(): Promise<void> }[] = []
beforeAll(async () => {
  server = await startExplainingPostgres()
  await migrate(server.url)
})
afterAll(async () => {
  await Promise.all(open.map((one) => one.close()))
  await server.stop()
})

/** A copy of the migrated database, and connections to it whose notices are kept. */
async function copy(): Promise<{ admin: pg.Client; connect: () => Explained }> {
  const name = `plans_${randomBytes(4).toString('hex')}`
  const login = new URL(server.url)
  const template = login.pathname.slice(1)
  login.pathname = '/postgres'
  const creator = new pg.Client({ connectionString: login.href })
  await creator.connect()
  await creator.query(`create database ${name} template ${template}`)
  await creator.end()
  login.pathname = `/${name}`
  const admin = new pg.Client({ connectionString: login.href })
  await admin.connect()
  open.push({ close: () => admin.end() })
  return {
    admin,
    connect() {
      const notices: string[] = []
      const database = connectPostgres({ url: login.href, max: 2, patience: 10, log: (line) => notices.push(line) })
      open.push(database)
      return { database, notices }
    },
  }
}

interface Explained {
  readonly database: Database
  readonly notices: string[]
}

type Step = (of: Person) => Promise<unknown>

/** Every statement of a sign-in, an enrollment, a security code, and of concurrent jobs. */
function steps(database: Database): Record<string, Step> {
  const accounts = postgresAccounts(database)
  const sessions = postgresSessions(database)
  const authentications = postgresAuthentications(database)
  const profiles = postgresProfiles(database)
  const codes = postgresSecurityCodes(database)
  const minted = async ({ organizationId, userRef }: Person) => {
    const sha256 = sha256Hex()
    await sessions.mint(organizationId, { sha256, userRef, memberRef: userRef, lifetimeMs: 900_000 })
    return [organizationId, userRef, sha256] as const
  }
  const memberOf = async ({ organizationId, userRef }: Person) => {
    const found = await accounts.find(organizationId, userRef, null)
    if (found?.member == null) throw new Error(`no member of ${userRef}`)
    return found.member
  }
  const versioned = async (of: Person) => {
    const { attemptsVersion, generation } = await memberOf(of)
    return { attemptsVersion, generation }
  }
  return {
    'resolve an API key': () => postgresApiKeys(database).resolve(randomBytes(32)),
    'find a person': (of) => accounts.find(of.organizationId, of.userRef, null),
    'list the members': (of) => accounts.roster(of.organizationId, of.userRef),
    'change an account': (of) =>
      accounts.change(of.organizationId, of.userRef, () => ({
        ...{ settings: { tag: {} }, move: { kind: 'none' } },
        newMember: { id: uuid(), displayName: null, createdAt: NOW },
      })),
    'create an account': (of) => person(database, of.organizationId, `new-${uuid()}`),
    'mint a session': (of) => minted(of),
    'echo a session': async (of) => sessions.find(...(await minted(of))),
    'report a pending action': async (of) => sessions.markReported(...(await minted(of)), uuid()),
    'mint an implicit session': ({ organizationId, userRef }) =>
      sessions.mintImplicit(organizationId, { sha256: sha256Hex(), userRef, memberRef: userRef, lifetimeMs: 900_000 }),
    'reserve an attempt': async (of) => sessions.reserve(...(await minted(of)), { kind: 'biometric', budget: 3 }),
    'release a reservation': async (of) => sessions.release(...(await minted(of)), { kind: 'biometric', words: null }),
    'mark failed typing': async (of) => sessions.markTypingFailed(...(await minted(of))),
    'end a session': async (of) => sessions.end(...(await minted(of))),
    'end all sessions of a user': (of) => sessions.endAll(of.organizationId, of.userRef, of.userRef),
    'read the references': (of) => profiles.references(of.organizationId, of.memberId),
    'read the tested patterns': ({ organizationId, userRef, memberId }) =>
      authentications.tested(organizationId, {
        userRef,
        memberId,
        since: 0,
        limits: { confirmed: 48, failed: 16 },
        known: [uuid()],
      }),
    'record an attempt': async (of) => authentications.record(of.organizationId, attempt(of, await versioned(of))),
    'look for replays': (of) =>
      authentications.resembling(of.organizationId, of.memberId, mark(), { now: NOW, most: 5 }),
    'look for typing in a session': ({ organizationId, userRef, memberId }) =>
      authentications.typedInSession(organizationId, {
        ...{ userRef, memberId, sessionId: '0123456789abcdef', since: Date.now() - 900_000 },
      }),
    'count an invalid pattern': (of) => postgresInvalidPatterns(database).count(of.organizationId, of.memberId),
    'enroll a pattern': async (of) =>
      profiles.add(of.organizationId, reference(of.memberId, mark(), (await versioned(of)).generation), RULES),
    'adapt a profile': async (of) => {
      const { profileVersion, generation } = await memberOf(of)
      const { replayMark: _, ...adaptive } = reference(of.memberId, mark(), generation)
      return profiles.adapt(of.organizationId, adaptive, { profileVersion, intervalMs: 0, max: 3 })
    },
    'queue an action': (of) =>
      postgresPendingActions(database).change(of.organizationId, of.memberId, { kind: 'clear' }, NOW),
    'read a security code': (of) => codes.find(of.organizationId, of.memberId),
    'set a security code': async (of) =>
      codes.set(of.organizationId, of.memberId, (await memberOf(of)).code.version, {
        ...{ hash: 'hash', setAt: NOW, expiresAt: null, issued: [] },
      }),
    'sweep the sessions': () => postgresRetention(database).sweepSessions(),
  }
}

/** Reads of each step, from its second run on: the first run, and one after a lost connection, also reads the catalogs. */
async function readings({ database, notices }: Explained, of: Person): Promise<Record<string, Read>> {
  const readings: Record<string, Read> = {}
  for (const [name, step] of Object.entries(steps(database))) {
    for (let tries = 0; tries < 3; tries++) {
      await step(of)
      notices.length = 0
      await step(of)
      readings[name] = readBy(notices)
      if (isBounded(readings[name])) break
    }
  }
  return readings
}

async function keepPlans({ database }: Explained, of: Person): Promise<void> {
  for (let i = 0; i < UNTIL_KEPT; i++) for (const step of Object.values(steps(database))) await step(of)
}

/** Adds people to this organization, each with a live session, a reference, a mark and an attempt. */
async function grow(admin: pg.Client, org: string): Promise<void> {
  await admin.query('begin')
  for (const table of ['account', 'member', 'reference_pattern', 'authentication', 'session', 'replay_mark'])
    await admin.query(`alter table keystride.${table} disable trigger user`)
  await admin.query('set local role keystride_system')
  await admin.query(
    `create temporary table grown on commit drop as
     select i, 'u' || i as ref, gen_random_uuid() as account, gen_random_uuid() as member,
       keystride.uuid_from(now() - i * interval '1 millisecond') as attempt
     from generate_series(1, ${GROWN}) i`,
  )
  await admin.query(
    `insert into keystride.account (organization_id, id, user_ref, type, created_at)
     select $1, account, ref, 'nominative', now() from grown`,
    [org],
  )
  await admin.query(
    `insert into keystride.member (organization_id, id, account_id, member_ref, attempts, created_at, n_visible, sample_format)
     select $1, member, account, ref, (select attempts from keystride.member limit 1), now(), 1, ${SAMPLE_FORMAT} from grown`,
    [org],
  )
  await admin.query(
    `insert into keystride.reference_pattern (organization_id, member_id, id, generation, mode, sealed, created_at)
     select $1, member, gen_random_uuid(), 0, 'visible', '\\x00', now() from grown`,
    [org],
  )
  await admin.query(
    `insert into keystride.authentication (organization_id, id, created_at, account_id, member_id, user_ref, member_ref,
       account_type, session_id, method, authenticated, recommended_action, reason, confidence, confidence_biometrics,
       policy_id, n_patterns_ref, n_patterns_ref_used)
     select $1, attempt, now(), account, member, ref, ref, 'nominative', '', 'biometric', true, 'auth', '', 1, 1, account, 5, 5
     from grown`,
    [org],
  )
  await admin.query(
    `insert into keystride.session (organization_id, user_ref, sha256, member_ref, expires_at)
     select $1, ref, sha256(ref::bytea), ref, now() + interval '900 seconds' from grown`,
    [org],
  )
  await admin.query(
    `insert into keystride.replay_mark (organization_id, exact, bands, member_id, seen_at, pattern_id, generation)
     select $1, decode(md5(ref), 'hex'), array(select hashint8extended(i, b) from generate_series(1, 8) b), member, now(), gen_random_uuid(), 0
     from grown`,
    [org],
  )
  await admin.query('commit')
}

const isBounded = ({ rows, pages }: Read) => rows <= ROWS_MAX && pages <= PAGES_MAX
const tooMuch = (found: Record<string, Read>) => Object.entries(found).filter(([, read]) => !isBounded(read))

describe.each([
  { statistics: 'no statistics', analyzed: 'never' },
  { statistics: 'statistics from before the growth', analyzed: 'before' },
  { statistics: 'fresh statistics', analyzed: 'after' },
] as const)('with $statistics', ({ analyzed }) => {
  // Regression: until the next analyze, a sign-in read every live session, an enrollment every reference of the organization.
  it('every statement of a sign-in reads a bounded number of rows and pages of large tables', async () => {
    const { admin, connect } = await copy()
    const old = connect()
    const small = await person(old.database, await organization(old.database), 'ada')
    // There is more than one row, because with one row every index is equally good for the planner.
    for (let n = 1; n < SMALL; n++) await person(old.database, small.organizationId, `user-${n}`)
    await keepPlans(old, small)
    if (analyzed === 'before') {
      await admin.query('analyze')
      await keepPlans(old, small)
    }
    const org = await organization(old.database)
    await grow(admin, org)
    if (analyzed === 'after') await admin.query('analyze')
    const large = await person(old.database, org, 'bo')
    // Plans from when the tables were small, and new plans.
    for (const connection of [old, connect()])
      for (const of of [large, small]) {
        const found = await readings(connection, of)
        expect(tooMuch(found)).toEqual([])
      }
  })
})

// Regression: for each added member, an import read all members, until autovacuum updated the statistics a minute later.
it('statistics of people are renewed as they grow', async () => {
  const { admin, connect } = await copy()
  for (const table of ['account', 'member'])
    await admin.query(`alter table keystride.${table} set (autovacuum_enabled = false)`)
  const { database } = connect()
  const [accounts, organizationId] = [postgresAccounts(database), await organization(database)]
  // The server counts the rows up to ten seconds late, and the statistics are looked at from 512 people on, at every power of two.
  await until(async () => {
    for (let n = 0; n < 100; n++) {
      const userRef = uuid()
      const member = { id: uuid(), memberRef: userRef, displayName: null, createdAt: NOW }
      const account = { id: uuid(), userRef, type: 'nominative', displayName: null, member, createdAt: NOW } as const
      await accounts.create(organizationId, account)
    }
    const { rows } = await admin.query(`
      select from pg_class
      where oid in ('keystride.account'::regclass, 'keystride.member'::regclass) and reltuples >= 256`)
    return rows.length === 2
  })
})
