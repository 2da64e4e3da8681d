import { randomBytes } from 'node:crypto'
import type postgres from 'postgres'
import { v7 } from 'uuid'
import type { Vault } from '../../src/storage/vault.js'

/** A row by column, each value as COPY writes it. */
type Row = Readonly<Record<string, string>>

/** A row of a template with the sample that its column `sealed` holds. */
interface SampleRow {
  readonly row: Row
  readonly sample: Uint8Array
}

/** The rows of a person who was enrolled and signed in through the API. */
interface Template {
  readonly account: Row
  readonly member: Row
  readonly references: readonly SampleRow[]
  /** The latest successful attempts, oldest first. */
  readonly attempts: readonly SampleRow[]
  readonly mark: Row
}

/** A person with the history of a template. */
export interface Copy {
  readonly userRef: string
  /** Index of the template. */
  readonly template: number
  readonly accountId: string
  readonly memberId: string
  /** Ids of the enrolled references. */
  readonly references: readonly string[]
}

/** The lines of COPY for some copies, by table. */
type Lines = readonly (readonly string[])[]

/** Lines of tables that are written together. */
export interface LinesOf {
  readonly tables: readonly { readonly name: string; readonly columns: readonly string[] }[]
  readonly lines: AsyncIterable<Lines>
}

interface Sealing {
  readonly organizationId: string
  readonly vault: Vault
}

interface Histories extends Sealing {
  readonly templates: readonly Template[]
  readonly copies: readonly Copy[]
  /** Time of the enrollments and of the latest attempts, epoch ms. */
  readonly begun: number
  readonly ended: number
}

const DAY_MS = 86_400_000

/** Reads the rows of a user who has only successful attempts left to copy. */
export async function templateOf(
  sql: postgres.Sql,
  { organizationId, vault }: Sealing,
  userRef: string,
  attempts: number,
): Promise<Template> {
  const [account] = await rowsOf(sql, 'account', `user_ref = '${userRef}'`)
  const [member] = await rowsOf(sql, 'member', `account_id = '${account?.id}'`)
  if (account === undefined || member === undefined) throw new Error(`${userRef} is not enrolled`)
  const ofMember = `member_id = '${member.id}'`
  const references = await rowsOf(sql, 'reference_pattern', `${ofMember} and kind = 'enrolled' order by created_at, id`)
  const tried = await rowsOf(sql, 'authentication', `${ofMember} and authenticated order by id desc limit ${attempts}`)
  const [mark] = await rowsOf(sql, 'replay_mark', `${ofMember} limit 1`)
  if (tried.length < attempts || mark === undefined) throw new Error(`${userRef} has no history`)
  const opened = async (row: Row, patternId: string): Promise<SampleRow> => {
    const binding = { accountId: text(account, 'id'), memberId: text(member, 'id'), patternId, generation: 0 }
    // The backslash of the bytes is escaped in COPY.
    const sealed = Buffer.from(text(row, 'sealed').slice(SEALED.length), 'hex')
    return { row, sample: await vault.open(organizationId, binding, sealed) }
  }
  return {
    account,
    member,
    references: await Promise.all(references.map((row) => opened(row, text(row, 'id')))),
    attempts: await Promise.all(tried.reverse().map((row) => opened(row, text(row, 'pattern_id')))),
    mark,
  }
}

/** How COPY writes bytes in front of their hexadecimal digits. */
const SEALED = '\\\\x'

/** Rows of a table with their written columns; a where clause of constants. */
async function rowsOf(sql: postgres.Sql, table: string, where: string): Promise<Row[]> {
  const columns = await sql<{ name: string }[]>`
    select attname as name from pg_attribute
    where attrelid = ${`keystride.${table}`}::regclass and attnum > 0 and not attisdropped and attgenerated = '' order by attnum`
  const names = columns.map(({ name }) => name)
  const asText = names.map((name) => `${name}::text`).join()
  const rows = await sql.unsafe<Record<string, string | null>[]>(
    `select ${asText} from keystride.${table} where ${where}`,
  )
  return rows.map((row) => Object.fromEntries(names.map((name): [string, string] => [name, copied(row[name] ?? null)])))
}

/** A value as COPY reads it. */
const copied = (value: string | null): string =>
  value === null ? '\\N' : value.replace(/[\\\t\n\r]/g, (c) => `\\${{ '\t': 't', '\n': 'n', '\r': 'r' }[c] ?? c}`)

const text = (row: Row, column: string): string => {
  const value = row[column]
  if (value === undefined) throw new Error(`no column ${column}`)
  return value
}

/**
 * The lines of all tables, in the order in which they are written. A later table of the person needs a group here, and a table that a job
 * builds from these rows needs its job in `histories.ts`.
 */
export function historyLines(histories: Histories): LinesOf[] {
  const { templates } = histories
  const [first] = templates
  if (first === undefined) throw new Error('no template')
  const mark = { name: 'replay_mark', columns: Object.keys(first.mark) }
  const tableOf = (name: string, row: Row | undefined) => ({ name, columns: Object.keys(row ?? {}) })
  return [
    { tables: [tableOf('account', first.account)], lines: accountLines(histories) },
    { tables: [tableOf('member', first.member)], lines: memberLines(histories) },
    { tables: [tableOf('reference_pattern', first.references[0]?.row), mark], lines: referenceLines(histories) },
    { tables: [tableOf('authentication', first.attempts[0]?.row), mark], lines: attemptLines(histories) },
  ]
}

const lineOf = (row: Row, changes: Row): string => Object.values({ ...row, ...changes }).join('\t')

const shownTime = (at: number): string => new Date(at).toISOString()

/** Time of the nth attempt of copy i: one in each of as many equal spans as there are attempts, in the order of the copies. */
function timeOf({ copies, templates, begun, ended }: Histories, nth: number, i: number): number {
  const span = (ended - begun) / (templates[0]?.attempts.length ?? 1)
  return Math.floor(begun + span * (nth + i / copies.length))
}

/** Copies whose lines are made at once. */
const AT_ONCE = 250

/** The lines of each copy, which is given with its template and its index; `linesOf` returns some for each table. */
async function* linesOfAll(
  { templates, copies }: Histories,
  linesOf: (copy: Copy, template: Template, i: number) => Lines | Promise<Lines>,
): AsyncGenerator<Lines> {
  for (let from = 0; from < copies.length; from += AT_ONCE) {
    const some = copies.slice(from, from + AT_ONCE).map((copy, i) => {
      const template = templates[copy.template]
      if (template === undefined) throw new Error('a copy of no template')
      return linesOf(copy, template, from + i)
    })
    const made = await Promise.all(some)
    yield (made[0] ?? []).map((_, table) => made.flatMap((lines) => lines[table] ?? []))
  }
}

function accountLines(histories: Histories): AsyncIterable<Lines> {
  const created_at = shownTime(histories.begun - DAY_MS)
  return linesOfAll(histories, ({ accountId: id, userRef: user_ref }, { account }) => [
    [lineOf(account, { id, user_ref, created_at })],
  ])
}

/** Members as after their latest attempt, which the profile learned from: it learns once a day. */
function memberLines(histories: Histories): AsyncIterable<Lines> {
  const enrolled = shownTime(histories.begun - DAY_MS)
  return linesOfAll(histories, ({ accountId, memberId, userRef }, { member, attempts }, i) => {
    const last = shownTime(timeOf(histories, attempts.length - 1, i))
    const changes = {
      id: memberId,
      account_id: accountId,
      member_ref: userRef,
      attempts_version: String(attempts.length),
      created_at: enrolled,
      completed_at: enrolled,
      last_success_at: last,
      typed_at: last,
      adapted_at: last,
    }
    return [[lineOf(member, changes)]]
  })
}

function referenceLines(histories: Histories): AsyncIterable<Lines> {
  const at = shownTime(histories.begun - DAY_MS)
  return linesOfAll(histories, async (copy, { references, mark }) => {
    const { memberId: member_id } = copy
    const lines = references.map(async ({ row, sample }, n) => {
      const id = copy.references[n] ?? ''
      return lineOf(row, { id, member_id, created_at: at, sealed: await sealedFor(histories, copy, id, sample) })
    })
    const marks = references.map((_, n) =>
      markLine(mark, { member_id, pattern_id: copy.references[n] ?? '', seen_at: at }),
    )
    return [await Promise.all(lines), marks]
  })
}

/** Attempts in the order of time. */
async function* attemptLines(histories: Histories): AsyncGenerator<Lines> {
  const { templates } = histories
  const factsOf = templates.map(({ references, attempts }) => {
    const ids = references.map(({ row }) => text(row, 'id'))
    return attempts.map(({ row }) => partsOf(text(row, 'facts'), ids))
  })
  for (let nth = 0; nth < (templates[0]?.attempts.length ?? 0); nth++)
    yield* linesOfAll(histories, async (copy, { attempts, mark }, i) => {
      const { row, sample } = attempts[nth] ?? { row: {}, sample: new Uint8Array() }
      const at = timeOf(histories, nth, i)
      const [created_at, pattern_id, member_id] = [shownTime(at), v7({ msecs: at }), copy.memberId]
      const changes = {
        id: v7({ msecs: at }),
        created_at,
        account_id: copy.accountId,
        member_id,
        user_ref: copy.userRef,
        member_ref: copy.userRef,
        session_id: random(8).toString('hex'),
        pattern_id,
        sealed: await sealedFor(histories, copy, pattern_id, sample),
        facts: filled(factsOf[copy.template]?.[nth] ?? [], copy.references),
      }
      return [[lineOf(row, changes)], [markLine(mark, { member_id, pattern_id, seen_at: created_at })]]
    })
}

const markLine = (mark: Row, changes: Row): string => {
  const bytes = random(80)
  const bands = Array.from({ length: 8 }, (_, i) => bytes.readBigInt64LE(16 + 8 * i))
  return lineOf(mark, { ...changes, exact: SEALED + bytes.toString('hex', 0, 16), bands: `{${bands.join()}}` })
}

async function sealedFor(
  { organizationId, vault }: Sealing,
  { accountId, memberId }: Copy,
  patternId: string,
  sample: Uint8Array,
): Promise<string> {
  const sealed = await vault.seal(organizationId, { accountId, memberId, patternId, generation: 0 }, sample)
  return SEALED + Buffer.from(sealed.buffer, sealed.byteOffset, sealed.length).toString('hex')
}

/** A text in front of, between and behind ids, which are replaced by their index. */
function partsOf(facts: string, ids: readonly string[]): (string | number)[] {
  return facts.split(new RegExp(`(${ids.join('|')})`)).map((part) => (ids.includes(part) ? ids.indexOf(part) : part))
}

const filled = (parts: readonly (string | number)[], ids: readonly string[]): string =>
  parts.map((part) => (typeof part === 'number' ? ids[part] : part)).join('')

const POOL_BYTES = 64 * 1024
let pool = randomBytes(POOL_BYTES)
let used = 0
/** Random bytes from a pool. */
function random(bytes: number): Buffer {
  if (used + bytes > POOL_BYTES) {
    pool = randomBytes(POOL_BYTES)
    used = 0
  }
  used += bytes
  return pool.subarray(used - bytes, used)
}
