import { randomBytes } from 'node:crypto'
import { v7 } from 'uuid'
import { describe, expect, it } from 'vitest'
import { bodyOf } from '../../../bench/ratio/people.js'
import { seededRandom } from '../../../src/calibration/random.js'
import { Refusal } from '../../../src/domain/refusal.js'
import { REPLAY_NEAR_MS, type ReplayMark } from '../../../src/domain/replay.js'
import { clearedMark } from '../../../src/flows/attempt/replay-check.js'
import type { PatternReading } from '../../../src/scoring/scoring.js'
import { administration } from '../../../src/wiring/open-stores.js'
import { attempt, type Person, person, reference } from '../../harness/fixtures.js'
import { sharedDatabase } from '../../servers/database.js'
import { HINTS, startFlows } from '../real-flows.js'

const PRESSES = 18
const TYPINGS = 400

const flows = await startFlows()
const { stores, organizationId } = flows
const { scoring } = flows.needs
const { database } = await sharedDatabase()
const replayKey = await stores.vault.replayKey(organizationId)

const needs = { ...stores, scoring, now: () => Date.now() }
const rules = { limit: 10, target: 5, rejectReplay: true }

interface Event {
  readonly type: string
  et: number
}
const { kevt, k: _, ...envelope } = JSON.parse(bodyOf(1, 0, PRESSES)) as { kevt: Event[]; k: unknown }
const event = (type: string): Event => {
  const found = kevt.find((one) => one.type === type)
  if (found === undefined) throw new Error(`no ${type} in the pattern`)
  return found
}
/** A pattern with these times, ms: press and release of each key in turn. */
const bodyAt = (times: readonly number[]): Buffer =>
  Buffer.from(
    JSON.stringify({
      ...envelope,
      kevt: times.map((ms, i) => {
        const [type, et] = [i % 2 === 0 ? 'keydown' : 'keyup', Math.round(100 * ms) / 100]
        return { ...event(type), et, seqn: i }
      }),
    }),
  )
const normal = (random: () => number) => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())

/** Repeated typings of the same words by a person with a steady rhythm. */
function typings(seed: number): number[][] {
  const random = seededRandom(seed)
  const rhythm = Array.from({ length: PRESSES }, () => 130 + 160 * random())
  return Array.from({ length: TYPINGS }, () => {
    let at = 1000 * random()
    return rhythm.flatMap((flight) => {
      const press = at
      at += flight * Math.exp(0.09 * normal(random))
      return [press, press + 60 + 25 * random()]
    })
  })
}

async function read(body: Uint8Array, references: readonly Uint8Array[] = []): Promise<PatternReading> {
  const found = await scoring.score({ body, references, replayKey })
  if (!found.ok) throw new Error(found.message)
  return found.reading
}

const nShared = (a: ReplayMark, b: ReplayMark): number => new Set(a.bands.filter((band) => b.bands.includes(band))).size

/**
 * Two typings whose marks share a band by chance although the typings differ; the organization's key determines which. Skips
 * typings that are classified as a bot's, and pairs as close to each other as a typing and its copy.
 */
async function alikeByChance(seed: number): Promise<readonly [number[], number[]]> {
  for (let n = 0; n < 10; n++) {
    const times = typings(seed + 100 * n)
    const typed = await Promise.all(times.map(async (times) => ({ times, reading: await read(bodyAt(times)) })))
    const all = typed.filter(({ reading }) => !reading.bot)
    for (const [i, a] of all.entries())
      for (const b of all.slice(i + 1)) {
        if (nShared(a.reading.replayMark, b.reading.replayMark) === 0) continue
        const { replayDistanceMs } = await read(bodyAt(b.times), [a.reading.sample])
        if (replayDistanceMs >= REPLAY_NEAR_MS && Number.isFinite(replayDistanceMs)) return [a.times, b.times]
      }
  }
  throw new Error('no two marks are alike by chance')
}

/** An attempt with these times, as verify records it. */
async function attemptAt(times: readonly number[], of: Person) {
  const { sample, replayMark } = await read(bodyAt(times))
  const [patternId, id] = [v7(), v7()]
  const binding = { accountId: of.accountId, memberId: of.memberId, patternId, generation: 0 }
  const sealed = await stores.vault.seal(organizationId, binding, sample)
  return { ...attempt(of), id, createdAt: Date.now(), patternId, sealed, replayMark }
}

describe('a typing whose mark resembles a known one', () => {
  it('is distinguished from a replay by the pattern itself', async () => {
    const [known, again] = await alikeByChance(4)
    const ada = await person(database, organizationId, 'ada')
    const look = (times: readonly number[], mark: ReplayMark) =>
      clearedMark(needs, organizationId, ada.memberId, { body: bodyAt(times), replayMark: mark })
    const first = await attemptAt(known, ada)
    expect(await stores.authentications.record(organizationId, first)).toBe('recorded')

    const second = { ...(await attemptAt(again, ada)), attemptsVersion: 1 }
    expect(await stores.authentications.record(organizationId, second)).toBe('replay')
    const cleared = (await look(again, second.replayMark))?.cleared ?? []
    expect(cleared.map((exact) => Buffer.from(exact).toString('hex'))).toEqual([
      Buffer.from(first.replayMark.exact).toString('hex'),
    ])
    const looked = { ...second, replayMark: { ...second.replayMark, cleared } }
    expect(await stores.authentications.record(organizationId, looked)).toBe('recorded')

    // A copy is a replay; a mark cleared for another typing has no effect. The index does not find every jittered or slower copy.
    const random = seededRandom(5)
    const shaken = known.map((ms) => ms + 5 * (2 * random() - 1))
    const stretched = known.map((ms) => 1.2 * ms)
    for (const times of [known, shaken, stretched]) {
      const copy = await attemptAt(times, ada)
      if (times !== known && nShared(copy.replayMark, first.replayMark) === 0) continue
      expect(await stores.authentications.record(organizationId, { ...copy, attemptsVersion: 2 })).toBe('replay')
      expect(await look(times, copy.replayMark)).toBeNull()
    }
    const { sample } = await read(bodyAt(known))
    expect((await read(bodyAt(again), [sample])).replayDistanceMs).toBeGreaterThan(REPLAY_NEAR_MS)
    expect((await read(bodyAt(shaken), [sample])).replayDistanceMs).toBeLessThan(REPLAY_NEAR_MS / 2)

    // A removed pattern cannot be compared: two equal bands count as a replay, and one does not.
    await database.scoped(organizationId, (sql) => sql`update keystride.authentication set sealed = null`)
    const others = second.replayMark.bands
    const own = [...new Set(first.replayMark.bands.filter((band) => !others.includes(band)))]
    expect(own.length).toBeGreaterThan(1)
    const sharing = (n: number) => [
      ...own.slice(0, n),
      ...Array.from({ length: 8 - n }, () => randomBytes(8).readBigInt64LE()),
    ]
    const lookWith = (bands: bigint[]) => look(again, { exact: randomBytes(16), bands })
    expect(await lookWith(sharing(2))).toBeNull()
    expect((await lookWith(sharing(1)))?.cleared).toHaveLength(1)
  })

  it('is compared with references as well', async () => {
    const [known, again] = await alikeByChance(6)
    const owner = await person(database, organizationId, 'cy')
    const { sample, replayMark } = await read(bodyAt(known))
    const made = reference(owner.memberId, replayMark)
    const binding = { accountId: owner.accountId, memberId: owner.memberId, patternId: made.id, generation: 0 }
    const sealed = await stores.vault.seal(organizationId, binding, sample)
    expect(await stores.profiles.add(organizationId, { ...made, sealed, createdAt: Date.now() }, rules)).toMatchObject({
      outcome: 'added',
    })
    const { replayMark: mark } = await read(bodyAt(again))
    const found = await stores.authentications.resembling(organizationId, owner.memberId, mark, {
      now: Date.now(),
      most: 10,
    })
    const resembling = found.find(({ exact }) => Buffer.compare(exact, replayMark.exact) === 0)
    expect(resembling?.pattern?.binding).toEqual(binding)
    const opened = await stores.vault.open(organizationId, binding, resembling?.pattern?.sealed ?? new Uint8Array())
    expect(Buffer.compare(opened, sample)).toBe(0)
  })

  it('is compared with a tested pattern that became a reference of a later profile, after its attempt is deleted', async () => {
    const [known, again] = await alikeByChance(10)
    const owner = await person(database, organizationId, 'di')
    const tested = await attemptAt(known, owner)
    expect(await stores.authentications.record(organizationId, tested)).toBe('recorded')
    await database.scoped(
      organizationId,
      (sql) => sql`update keystride.member set generation = 1 where id = ${owner.memberId}`,
    )
    const { sample } = await read(bodyAt(known))
    const id = tested.patternId
    const binding = { accountId: owner.accountId, memberId: owner.memberId, patternId: id, generation: 1 }
    const sealed = await stores.vault.seal(organizationId, binding, sample)
    const made = { ...reference(owner.memberId, undefined, 1), id, sealed, replayMark: null, createdAt: Date.now() }
    expect(await stores.profiles.add(organizationId, made, rules)).toMatchObject({ outcome: 'added' })
    const { replayMark: mark } = await read(bodyAt(again))
    const input = { body: bodyAt(again), replayMark: mark }
    const look = async () => (await clearedMark(needs, organizationId, owner.memberId, input))?.cleared?.length ?? 0
    expect(await look()).toBeGreaterThan(0)
    await database.scoped(
      organizationId,
      (sql) => sql`update keystride.authentication set sealed = null where member_id = ${owner.memberId}`,
    )
    expect(await look()).toBeGreaterThan(0)
  })

  it('is stored as a reference, unless it is a copy of the known one', async () => {
    const [known, again] = await alikeByChance(8)
    const create = (userRef: string) =>
      flows.accounts.create(
        { organizationId, userRef, memberRef: null },
        { type: null, displayName: null, withCode: false },
      )
    await Promise.all(['flo', 'hal', 'ike'].map(create))
    const stored = async (userRef: string, times: readonly number[]) => {
      const who = { organizationId, userRef, memberRef: null }
      const { sessionToken } = await flows.bootstrap(who, null, HINTS)
      const outcome = flows.enroll(who, sessionToken, { kind: 'pattern', body: bodyAt(times) }, HINTS)
      return outcome.then(
        ({ nPatternsRef }) => nPatternsRef,
        (error) => (error instanceof Refusal ? error.kind : 'thrown'),
      )
    }
    const later = known.map((ms) => ms + 5000)
    expect([
      await stored('flo', known),
      await stored('flo', again),
      await stored('hal', known),
      await stored('ike', later),
    ]).toEqual([1, 2, 'replay-detected', 'replay-detected'])
  })

  it.each([
    ['with a longer pause', (times: readonly number[]) => times.map((ms, i) => (i < 16 ? ms : ms + 300))],
    ['without a key', (times: readonly number[]) => times.filter((_, i) => i !== 2 && i !== 3)],
    ['slower by 10 %', (times: readonly number[]) => times.map((ms) => 1.1 * ms)],
    ['with another beginning', (times: readonly number[]) => times.map((ms, i) => (i < 6 ? ms - 100 * (6 - i) : ms))],
  ])('is a replay if it is a known typing %s, of another member', async (name, edited) => {
    const random = seededRandom(name.length)
    let at = 0
    const typed = Array.from({ length: 40 }, () => {
      at += 130 + 250 * random()
      return [at, at + 60 + 60 * random()]
    }).flat()
    const [eve, mallory] = [v7(), v7()]
    const victim = await person(database, organizationId, `victim-${eve}`)
    const attacker = await person(database, organizationId, `attacker-${mallory}`)
    const captured = await attemptAt(typed, victim)
    expect(await stores.authentications.record(organizationId, captured)).toBe('recorded')
    const sent = edited(typed)
    const copy = await attemptAt(sent, attacker)
    expect(await stores.authentications.record(organizationId, copy)).toBe('replay')
    expect(
      await clearedMark(needs, organizationId, attacker.memberId, { body: bodyAt(sent), replayMark: copy.replayMark }),
    ).toBeNull()
  })

  it('is looked up in its own organization, within the retention of marks, up to a limit', async () => {
    const other = (await administration(stores).create('Other')).id
    const [b0 = 0n, b1 = 0n, ...rest] = Array.from({ length: 8 }, () => randomBytes(8).readBigInt64LE())
    const marks = [1, 2, 3].map((): ReplayMark => ({ exact: randomBytes(16), bands: [b0, b1, ...rest] }))
    const someone = await person(database, organizationId, 'dee')
    const lenient = { limit: 10, target: 5, rejectReplay: false }
    for (const mark of marks) {
      const made = { ...reference(someone.memberId, mark), createdAt: Date.now() }
      expect(await stores.profiles.add(organizationId, made, lenient)).toMatchObject({ outcome: 'added' })
    }
    const mark = { exact: randomBytes(16), bands: [b1, b0, ...rest.map((band) => band + 1n)] }
    const count = async (of: string, now: number, most: number) =>
      (await stores.authentications.resembling(of, someone.memberId, mark, { now, most })).length
    const later = Date.now() + 401 * 86_400_000
    expect([
      await count(organizationId, Date.now(), 10),
      await count(organizationId, Date.now(), 2),
      await count(organizationId, later, 10),
      await count(other, Date.now(), 10),
    ]).toEqual([3, 2, 0, 0])
  })
})
