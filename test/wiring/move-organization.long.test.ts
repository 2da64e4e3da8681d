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

  /** Creates accounts until it is stopped. Resolves to the user references of those that were acknowledged, and the number of refusals. */
  function writing(organizationId: string) {
    const state = { over: false, acknowledged: [] as string[], refused: 0 }
    const done = (async () => {
      for (let i = 0; !state.over; i++)
        try {
          await stores.accounts.create(organizationId, newAccount(`late ${i}`))
          state.acknowledged.push(`late ${i}`)
          await delay(2)
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

  const usersIn = async (database: Database, organizationId: string): Promise<string[]> => {
    const rows = await database.asSystem(
      (sql) => sql<{ user_ref: string }[]>`
        select user_ref from keystride.account where organization_id = ${organizationId}`,
    )
    return rows.map(({ user_ref }) => user_ref)
  }

  it('takes along what is written meanwhile, and keeps a copy until it is told to delete it', {
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
    expect(lines).toContain('both copies have the same counts and checksums')
    expect(pausedMs).toBeGreaterThan(0)
    expect(writer.state.refused).toBeGreaterThan(0)
    const users = await usersIn(to, id)
    expect(users).toHaveLength(30 + writer.state.acknowledged.length)
    expect(users).toEqual(expect.arrayContaining(writer.state.acknowledged))
    expect((await flows.license(id))?.headcount.nAccounts).toBe(users.length)
    expect((await stores.apiKeys.resolve(sha256(apikey)))?.organizationId).toBe(id)
    expect(await deleteSources(stores, id, QUIET)).toEqual(['main'])
    expect(await usersIn(from, id)).toEqual([])
    expect((await flows.list()).filter(({ name }) => name === 'Moving')).toHaveLength(1)
    expect(await from.asSystem((sql) => sql`select from pg_trigger where tgname like 'moved_%'`)).toHaveLength(0)
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
    const users = await usersIn(home() === 0 ? from : to, id)
    const lost = writer.state.acknowledged.filter((user) => !users.includes(user))
    expect(lost, sides.join(', ')).toEqual([])
    expect(new Set(users).size).toBe(users.length)
    expect((await flows.license(id))?.headcount.nAccounts).toBe(users.length)
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
