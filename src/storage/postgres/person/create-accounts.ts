import { NO_ATTEMPTS } from '../../../domain/attempts.js'
import { Refusal } from '../../../domain/refusal.js'
import type { AccountStore, AccountWithMember, NewAccount } from '../../account.js'
import { type Database, textArray } from '../connection/client.js'
import { shareStatement, type Waiting } from '../connection/shared-statement.js'
import { analyzeAsItGrows } from '../schema/grown-tables.js'
import { accountColumns, type PersonRow, toPerson } from './account-row.js'
import { memberColumns } from './member.js'

interface AccountToCreate {
  readonly organizationId: string
  readonly account: NewAccount
}

/** Outcome of a creation; `line` if it must wait for the lock of the headcount. */
type CreateOutcome = (AccountWithMember & { readonly created: boolean }) | Refusal | 'locked'

interface OutcomeRow {
  nth: number
  outcome: 'created' | 'found' | 'accounts-quota' | 'shared-accounts-quota' | 'locked' | null
  licensed: number | null
}

/** Accounts per commit. Larger batches make an account no cheaper. */
const BATCH_MAX = 64
/** While one commit is under way, another one begins with this many calls, because each commit costs a disk flush. */
const WORTH_ANOTHER = 16

/**
 * Implements `create`: creations that arrive during a commit share the next one, across organizations. Creations under a strict
 * quota wait for the headcount's lock in a separate batch per organization, so that no other creation waits with them.
 */
export function createTogether(database: Database): AccountStore['create'] {
  const create = sharedCreation(database, false)
  const queues = new Map<string, { n: number; create: (asked: AccountToCreate) => Promise<CreateOutcome> }>()
  const oneMore = analyzeAsItGrows(database)

  async function createInTurn(asked: AccountToCreate): Promise<CreateOutcome> {
    const { organizationId } = asked
    const queue = queues.get(organizationId) ?? { n: 0, create: sharedCreation(database, true) }
    queues.set(organizationId, queue)
    queue.n += 1
    try {
      return await queue.create(asked)
    } finally {
      queue.n -= 1
      if (queue.n === 0) queues.delete(organizationId)
    }
  }

  return async (organizationId, account) => {
    const asked = { organizationId, account }
    let answer = await create(asked)
    if (answer === 'locked') answer = await createInTurn(asked)
    if (answer === 'locked')
      throw new Error('a creation that waits for the lock of the headcount was asked to wait again')
    if (answer instanceof Refusal) throw answer
    if (answer.created) oneMore()
    return answer
  }
}

const sharedCreation = (database: Database, waits: boolean) =>
  shareStatement<AccountToCreate, CreateOutcome>({
    run: (batch) => write(database, batch, waits),
    take: takeBatch,
    worthWaitingFor: BATCH_MAX,
    worthAnother: WORTH_ANOTHER,
  })

/** A batch contains each userRef once, because a second creation of the same userRef must find the first. */
function takeBatch(queue: Waiting<AccountToCreate, CreateOutcome>[]): Waiting<AccountToCreate, CreateOutcome>[] {
  const batch = new Map<string, Waiting<AccountToCreate, CreateOutcome>>()
  const later: Waiting<AccountToCreate, CreateOutcome>[] = []
  for (const waiting of queue.splice(0, BATCH_MAX)) {
    const { organizationId, account } = waiting.asked
    const reference = `${organizationId} ${account.userRef}`
    if (batch.has(reference)) later.push(waiting)
    else batch.set(reference, waiting)
  }
  queue.unshift(...later)
  return [...batch.values()]
}

const write = (database: Database, batch: readonly AccountToCreate[], waits: boolean): Promise<CreateOutcome[]> =>
  database.call(async (sql) => {
    const of = (value: (account: NewAccount) => string | null) => textArray(batch.map(({ account }) => value(account)))
    const rows = await sql<(PersonRow & OutcomeRow)[]>`
      select p.nth, p.outcome, p.licensed, ${accountColumns(sql)}, ${memberColumns(sql)}
      from keystride.create_accounts(${textArray(batch.map(({ organizationId }) => organizationId))}::uuid[],
        ${of(({ id }) => id)}::uuid[], ${of(({ userRef }) => userRef)}::text[], ${of(({ type }) => type)}::text[],
        ${of(({ displayName }) => displayName)}::text[], ${of(({ createdAt }) => String(createdAt))}::float8[],
        ${of(({ member }) => member?.id ?? null)}::uuid[], ${of(({ member }) => member?.memberRef ?? null)}::text[],
        ${of(({ member }) => member?.displayName ?? null)}::text[], ${JSON.stringify(NO_ATTEMPTS)}::text::jsonb,
        ${waits}) p,
        lateral (select (p.found_account).*) a, lateral (select (p.found_member).*) m`
    const outcomes = new Map(rows.map((row) => [row.nth, toOutcome(row)]))
    rows.length = 0
    return batch.map((_, i) => outcomes.get(i + 1) ?? removed())
  })

function toOutcome(row: PersonRow & OutcomeRow): CreateOutcome {
  const { outcome, licensed } = row
  if (outcome === 'locked') return 'locked'
  if (outcome === 'accounts-quota') return accountsQuota(licensed ?? 0)
  if (outcome === 'shared-accounts-quota') return sharedAccountsQuota(licensed ?? 0)
  const person = outcome === null ? null : toPerson(row)
  return person === null ? removed() : { ...person, created: outcome === 'created' }
}

const removed = () => new Refusal('degraded', 'this account was removed while it was created: try again', 1)

const accountsQuota = (licensed: number) =>
  new Refusal('accounts-quota', `ACCOUNTS_QUOTA_EXCEEDED: the license is for ${licensed} accounts, all in use`)

export const sharedAccountsQuota = (licensed: number) =>
  new Refusal(
    'shared-accounts-quota',
    `SHARED_ACCOUNTS_QUOTA_EXCEEDED: the license is for ${licensed} shared accounts, all in use`,
  )
