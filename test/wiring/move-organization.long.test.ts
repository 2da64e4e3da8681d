import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { v7 } from 'uuid'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { whyNoStandby } from '../../bench/shared/debian-postgres.js'
import { Refusal } from '../../src/domain/refusal.js'
import { sha256 } from '../../src/flows/process/tokens.js'
import { readConfig } from '../../src/process/config.js'
import { jsonLog } from '../../src/process/log.js'
import { postgresAuthentications } from '../../src/storage/postgres/attempt/authentication.js'
import { connectPostgres, type Database } from '../../src/storage/postgres/connection/client.js'
import { deleteSources, moveBack, moveTo } from '../../src/wiring/move-organization.js'
import { administration, openStores } from '../../src/wiring/open-stores.js'
import type { Stores } from '../../src/wiring/stores.js'
import { attempt, NOW, type Person, person } from '../harness/fixtures.js'
import { until } from '../harness/patience.js'
import { startTwoDatabases, type TwoDatabases } from '../harness/two-databases.js'
import { startChild } from '../servers/child.js'

const newAccount = (userRef: string) => ({
  id: v7(),
  userRef,
  type: 'nominative' as const,
  displayName: null,
  member: { id: v7(), memberRef: userRef, displayName: null, createdAt: NOW },
  createdAt: NOW,
})

async function attempted(database: Database, who: Person): Promise<void> {
  expect(await postgresAuthentications(database).record(who.organizationId, attempt(who))).toBe('recorded')
}

const COMMAND = fileURLToPath(new URL('../../bin/keystride.mjs', import.meta.url))

describe.skipIf(whyNoStandby() !== null)('a move of an organization to another database', () => {
  let two: TwoDatabases
  let stores: Stores
  let from: Database
  let to: Database
  beforeAll(async () => {
    two = await startTwoDatabases()
    stores = await openStores(readConfig({ ...two.env, STORE_PATIENCE: '1' }), jsonLog('silent'), { redis: false })
    from = connectPostgres({ url: two.urls[0], max: 2, patience: 10 })
    to = connectPostgres({ url: two.urls[1], max: 2, patience: 10 })
  })
  afterAll(async () => {
    await stores?.close()
    await from?.close()
    await to?.close()
    await two?.remove()
  })

  /**
   * Creates accounts, records an attempt of each and deletes every fifth until it is stopped, and notes what was acknowledged. A refused
   * call may have been done.
   */
  function writing(organizationId: string) {
    const state = {
      over: false,
      accounts: new Set<string>(),
      attempts: new Map<string, string>(),
      deleted: new Set<string>(),
      refused: 0,
    }
    const visit = async (userRef: string, leaves: boolean) => {
      const { account, member } = await stores.accounts.create(organizationId, newAccount(userRef))
      state.accounts.add(userRef)
      const tried = attempt({ organizationId, accountId: account.id, memberId: member?.id ?? '', userRef })
      await stores.authentications.record(organizationId, tried)
      state.attempts.set(tried.id, userRef)
      if (!leaves) return
      state.accounts.delete(userRef)
      await stores.accounts.remove(organizationId, userRef)
      state.deleted.add(userRef)
    }
    const done = (async () => {
      for (let i = 0; !state.over; i++)
        try {
          await visit(`late ${i}`, i % 5 === 0)
        } catch (error) {
          if (!(error instanceof Refusal && error.kind === 'degraded')) throw error
          state.refused += 1
          await delay(20)
        }
    })()
    return {
      state,
      async stop() {
        state.over = true
        await done
      },
    }
  }

  const textsIn = (database: Database, statement: string, id: string): Promise<string[]> =>
    database.asSystem(async (sql) => {
      const rows = await sql.unsafe<{ text: string }[]>(statement, [id])
      return rows.map(({ text }) => text)
    })
  const usersIn = (database: Database, id: string) =>
    textsIn(database, 'select user_ref as text from keystride.account where organization_id = $1', id)
  const attemptsIn = (database: Database, id: string) =>
    textsIn(database, 'select id::text as text from keystride.authentication where organization_id = $1', id)

  /** Nothing that was acknowledged is lost or comes back, and nothing is there twice. */
  async function expectKept({ state }: ReturnType<typeof writing>, database: Database, id: string, why = '') {
    const [users, attempts] = [await usersIn(database, id), await attemptsIn(database, id)]
    expect(
      [...state.accounts].filter((user) => !users.includes(user)),
      why,
    ).toEqual([])
    expect(
      users.filter((user) => state.deleted.has(user)),
      why,
    ).toEqual([])
    const kept = [...state.attempts].filter(([, user]) => state.accounts.has(user)).map(([attemptId]) => attemptId)
    expect(kept.length).toBeGreaterThan(0)
    expect(
      kept.filter((one) => !attempts.includes(one)),
      why,
    ).toEqual([])
    for (const list of [users, attempts]) expect(new Set(list).size).toBe(list.length)
    expect((await administration(stores).license(id))?.headcount.nAccounts).toBe(users.length)
  }

  it('moves the rows that are written meanwhile, and the source keeps its copy until a command deletes it', {
    timeout: 120_000,
  }, async () => {
    const flows = administration(stores)
    const { id } = await flows.create('Moving', 'main')
    const { apikey } = await flows.issueKey(id, 'test')
    for (let i = 0; i < 30; i++) await attempted(from, await person(from, id, `early ${i}`))
    const writer = writing(id)
    const lines: string[] = []
    const { pausedMs } = await moveTo(stores, id, 'two', { say: (line) => lines.push(line), patience: 1 })
    await until(() => stores.databaseOf(id) === 1)
    await writer.stop()
    expect(lines.filter((line) => line.endsWith('anew'))).toEqual([])
    expect(lines).toContain('both copies have the same counts and checksums')
    expect(pausedMs).toBeGreaterThan(0)
    expect(writer.state.refused).toBeGreaterThan(0)
    await expectKept(writer, to, id)
    expect((await attemptsIn(to, id)).length).toBeGreaterThan(30)
    expect((await stores.apiKeys.resolve(sha256(apikey)))?.organizationId).toBe(id)
    // As after a restore of the destination to a time before the move.
    const restored = (text: string) => to.asSystem((sql) => sql.unsafe(text, [id]))
    await restored(`insert into keystride.placement (organization_id, state, other) values ($1, 'arriving', 'main')`)
    await expect(deleteSources(stores, id)).rejects.toThrow('may be its last')
    await restored('delete from keystride.placement where organization_id = $1')
    expect(await deleteSources(stores, id)).toEqual(['main'])
    expect(await usersIn(from, id)).toEqual([])
    expect((await flows.list()).filter(({ name }) => name === 'Moving')).toHaveLength(1)
    expect(await from.asSystem((sql) => sql`select from pg_trigger where tgname like 'moved_%'`)).toHaveLength(0)
  })

  it('serves from the source again if the destination hangs in the pause', { timeout: 120_000 }, async () => {
    const flows = administration(stores)
    const { id } = await flows.create('Hanging', 'main')
    await attempted(from, await person(from, id, 'early'))
    const placed = () => textsIn(from, 'select state as text from keystride.placement where organization_id = $1', id)
    const moved = expect(moveTo(stores, id, 'two', QUIET)).rejects.toThrow('took too long')
    await until(async () => (await placed())[0] === 'closing')
    await two.servers[1].signalAll('SIGSTOP')
    await moved
    expect(await placed()).toEqual(['leaving'])
    expect(await stores.accounts.find(id, 'early', null)).not.toBeNull()
    await two.servers[1].signalAll('SIGCONT')
    await until(() => stores.databases[1]?.placements.list().then(Boolean, () => false) ?? false)
    await moveTo(stores, id, 'two', QUIET)
    expect(await usersIn(to, id)).toEqual(['early'])
  })

  it('ends whole on one side after kills at ten moments, gone on with or taken back', {
    timeout: 280_000,
  }, async () => {
    const flows = administration(stores)
    const { id } = await flows.create('Killed', 'main')
    for (let i = 0; i < 30; i++) await attempted(from, await person(from, id, `early ${i}`))
    const writer = writing(id)
    const home = () => (stores.databaseOf(id) === 1 ? 1 : 0)
    const names = ['main', 'two'] as const
    const begun = performance.now()
    await moveTo(stores, id, 'two', QUIET)
    const wholeMs = performance.now() - begun
    const sides: string[] = []
    for (let kill = 0; kill < 10; kill++) {
      await until(() => stores.databaseOf(id) !== null)
      const target = names[1 - home()] ?? 'main'
      const afterMs = Math.random() * (wholeMs + STARTS_MS)
      const child = startMove(two.env, id, target)
      await Promise.race([delay(afterMs), child.exited])
      child.kill()
      await child.exited
      if (kill % 2 === 0) await moveTo(stores, id, target, QUIET).catch(unlessThere)
      else await moveBack(stores, id, QUIET).catch(unlessThere)
      await until(() => stores.databaseOf(id) !== null)
      sides.push(`${Math.round(afterMs)} ms: ${names[home()]}`)
    }
    await writer.stop()
    await expectKept(writer, home() === 0 ? from : to, id, sides.join(', '))
  })
})

const QUIET = { say: () => {}, patience: 1 }

/** Time until a command reads its settings. */
const STARTS_MS = 1500

/** The move had ended before the kill. */
function unlessThere(error: unknown): void {
  if (!/is in (main|two)( already|: move it from there)|no move .* is under way/.test((error as Error).message))
    throw error
}

function startMove(env: Readonly<Record<string, string>>, id: string, target: string) {
  const child = startChild(process.execPath, [COMMAND, 'organization', 'move', id, '--to', target], {
    env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', STORE_PATIENCE: '1', ...env },
    stdio: 'ignore',
  })
  return { exited: once(child, 'exit'), kill: () => child.kill('SIGKILL') }
}
