import { once } from 'node:events'
import { finished } from 'node:stream/promises'
import postgres from 'postgres'
import { v7 } from 'uuid'
import { createSetBuilder } from '../../src/flows/attempt/build-sets.js'
import { modelFile, wasmFile } from '../../src/scoring/artifacts.js'
import { createInlineScoring } from '../../src/scoring/inline.js'
import { openScorer } from '../../src/scoring/scorer.js'
import type { Stores } from '../../src/wiring/stores.js'
import { bodyOf, coreCall, ENROLLED_PRESSES, enroll, forEachOf, userRef, VERIFIED_FROM } from '../ratio/people.js'
import { inBulk } from './bulk.js'
import { type Copy, historyLines, type LinesOf, templateOf } from './history-rows.js'
import { within } from './within.js'

/** People with years of sign-ins. Person `n` is named `userRefOf(n)` and types as the made-up person `typistOf(n)`. */
export interface Histories {
  readonly people: number
  userRefOf(n: number): string
  typistOf(n: number): number
  /** First ordinal of typing that no pattern of a history has. */
  readonly typedFrom: number
}

/** The database and an organization with a key, of a deployment. */
interface Filled {
  readonly databaseUrl: string
  readonly organizationId: string
  readonly apikey: string
  readonly stores: Stores
}

interface Filling {
  /** The port of a service, which enrolls the templates. */
  readonly port: number
  readonly people: number
  /** Successful attempts of each person. */
  readonly attempts: number
  /** Index of the first template in the made-up people. */
  readonly first: number
  readonly say: (line: string) => void
}

/** People whose rows are copied. No measurement behind it. */
const TEMPLATES = 32
/** Tries of a template for each success. */
const TRIES = 5
const DAY_MS = 86_400_000
/** The attempts of a history are spread over this many days, the last of them up to an hour ago. */
const [HISTORY_DAYS, LAST_MS] = [60, 3_600_000]
const REFERENCES = 5
/** Rows between two lines of progress. */
const SAID = 250_000
/** Functions of jobs that derive rows from the copied ones. Each is called until it answers that nothing is left. */
const JOBS = ['slide_totals']

/**
 * Enrolls a few people through the API, lets them sign in, and copies their rows to `people` people, with attempts in the last
 * 60 days. Samples are sealed for each person, and rows are written in the order of their times, as sign-ins write them. 20,000 people
 * with 48 attempts took seven minutes on two busy cores, three of them for the comparison sets.
 */
export async function fillHistories(deployment: Filled, filling: Filling): Promise<Histories> {
  const { databaseUrl, apikey, organizationId, stores } = deployment
  const { port, people, attempts, first, say } = filling
  const count = Math.min(TEMPLATES, people)
  say(`histories: enrolling ${count} people, who sign in ${attempts} times each ...`)
  await enroll({ port, apikey, first, people: count })
  const typedFrom = await signIn({ port, apikey }, { first, count, attempts })
  const [begun, ended] = [Date.now() - HISTORY_DAYS * DAY_MS, Date.now() - LAST_MS]
  const copies = Array.from({ length: people }, (_, n) => copyOf(`history-${n}`, n % count, begun))
  const sql = postgres(databaseUrl, { max: 4, fetch_types: false, onnotice: () => {} })
  try {
    await asSystem(sql, (system) => system`select keystride.ensure_partitions(3, ${new Date(begun)}::timestamptz)`)
    await inBulk(sql, { rebuildBands: true, say }, async () => {
      const templates = []
      for (let i = 0; i < count; i++)
        templates.push(await templateOf(sql, { organizationId, vault: stores.vault }, userRef(first + i), attempts))
      const groups = historyLines({ organizationId, vault: stores.vault, templates, copies, begun, ended })
      for (const group of groups) {
        say(`histories: ${group.tables.map(({ name }) => name).join(' and ')} ...`)
        await copyIn(sql, group, say)
      }
      say('histories: indexes ...')
    })
    await derive(sql, organizationId, people)
    say('histories: comparison sets ...')
    const scoring = createInlineScoring({ wasmFile: wasmFile(), modelFile: modelFile() })
    const openKernel = () => openScorer(wasmFile(), modelFile()).kernel
    await createSetBuilder({ ...stores, scoring, openKernel, now: Date.now })(new AbortController().signal)
    await sql`vacuum (analyze) keystride.comparison_set`
  } finally {
    await sql.end()
  }
  return { people, userRefOf: (n) => `history-${n}`, typistOf: (n) => first + (n % count), typedFrom }
}

/** Lets each template sign in until `attempts` sign-ins have succeeded; returns the first ordinal that none has typed. */
async function signIn(
  service: { readonly port: number; readonly apikey: string },
  { first, count, attempts }: { readonly first: number; readonly count: number; readonly attempts: number },
): Promise<number> {
  const call = coreCall(service)
  let typedFrom = VERIFIED_FROM
  await forEachOf(first, count, async (index) => {
    const path = `/users/${userRef(index)}`
    let successes = 0
    for (let n = 0; successes < attempts; n++) {
      if (n === TRIES * attempts) throw new Error(`${userRef(index)} is not recognized: ${successes} of ${n} sign-ins`)
      const ordinal = VERIFIED_FROM + n
      typedFrom = Math.max(typedFrom, ordinal + 1)
      const begun = await call('GET', path)
      await begun.arrayBuffer()
      const session = begun.headers.get('x-service-session') ?? ''
      const body = bodyOf(index, ordinal, ENROLLED_PRESSES)
      const answer = await call('POST', `${path}/verify`, { session, body })
      if ((await answer.text()).includes('"authenticated":true')) successes++
    }
  })
  return typedFrom
}

const copyOf = (name: string, template: number, begun: number): Copy => ({
  userRef: name,
  template,
  accountId: v7({ msecs: begun }),
  memberId: v7({ msecs: begun }),
  references: Array.from({ length: REFERENCES }, () => v7({ msecs: begun })),
})

/** Writes the lines of some tables concurrently, each table by one COPY. */
async function copyIn(sql: postgres.Sql, { tables, lines }: LinesOf, say: (line: string) => void): Promise<void> {
  const streams = await Promise.all(
    tables.map(({ name, columns }) => sql.unsafe(`copy keystride.${name} (${columns.join()}) from stdin`).writable()),
  )
  let written = 0
  for await (const some of lines)
    for (const [table, into] of streams.entries()) {
      const rows = some[table] ?? []
      if (!into.write(rows.map((row) => `${row}\n`).join('')))
        await within('PostgreSQL to take rows', once(into, 'drain'))
      if (Math.floor((written + rows.length) / SAID) > Math.floor(written / SAID))
        say(`  ${(written + rows.length).toLocaleString('en')} rows`)
      written += rows.length
    }
  await Promise.all(
    streams.map(async (into) => {
      const end = finished(into)
      into.end()
      await within('the end of a COPY', end)
    }),
  )
}

/** Brings what triggers and jobs derive from the rows up to date. */
async function derive(sql: postgres.Sql, organizationId: string, people: number): Promise<void> {
  await asSystem(sql, async (system) => {
    await system`
      insert into keystride.headcount_change (organization_id, n_accounts, n_users_nominative)
      values (${organizationId}, ${people}, ${people})`
    // The counts of past hours, which only the dashboard reads, are left out.
    await system`update keystride.attempt_counted set until = date_trunc('hour', now()), days_until = date_trunc('day', now())`
    await system`update keystride.user_totaled set until = '-infinity'`
  })
  for (const job of JOBS) {
    let more = true
    while (more) [{ more }] = await sql.unsafe<[{ more: boolean }]>(`select keystride.${job}() as more`)
  }
}

const asSystem = (sql: postgres.Sql, work: (system: postgres.TransactionSql) => Promise<unknown>) =>
  sql.begin(async (system) => {
    await system`set local role keystride_system`
    await work(system)
  })
