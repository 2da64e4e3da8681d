import { describe, expect, it } from 'vitest'
import { Refusal } from '../../../src/domain/refusal.js'
import type { PatternInput } from '../../../src/flows/attempt/pattern-input.js'
import { createPersonCache } from '../../../src/flows/attempt/person-cache.js'
import { person } from '../../../src/typist/made-up-person.js'
import { createPatternFlows } from '../../../src/wiring/pattern-flows.js'
import type { Stores } from '../../../src/wiring/stores.js'
import { text } from '../../harness/enrolled.js'
import { HINTS, newUser, startFlows } from '../real-flows.js'

const flows = await startFlows()

const bytes = (pattern: unknown) => Buffer.from(JSON.stringify(pattern))
const away = async (): Promise<never> => {
  throw new Refusal('degraded', 'the store is away', 1)
}

/** The pattern flows of a process, with the test's replacements of stores. */
const flowsOn = (changes: Partial<Stores> = {}) =>
  createPatternFlows({ ...flows.needs, ...changes, create: flows.accounts.create })

/** A user with five references. */
async function enrolled(seed: number) {
  const who = await newUser(flows)
  const typist = person(seed)
  let next = 0
  const fresh = (): PatternInput => ({ kind: 'pattern', body: bytes(typist.types(text(next), next++)) })
  const session = async () => (await flows.bootstrap(who, null, HINTS)).sessionToken
  const token = await session()
  for (let stored = 0; stored < 5; ) {
    const outcome = await flows.enroll(who, token, fresh(), HINTS).catch((error: Refusal) => error.kind)
    if (typeof outcome !== 'string') stored++
    else if (outcome === 'rate-limited')
      throw new Error('these patterns are taken for a machine’s: choose another seed')
  }
  const verify = async (input: PatternInput, on = flowsOn()) => on.verify(who, await session(), input, HINTS)
  return { who, fresh, session, verify }
}

describe('a client that repeats a request', () => {
  it('after 503 is judged as if for the first time: nothing was remembered', async () => {
    const { verify, fresh, who, session } = await enrolled(911)
    const input = fresh()
    const stores = flows.stores
    const unrecorded = flowsOn({ authentications: { ...stores.authentications, record: away } })
    await expect(verify(input, unrecorded)).rejects.toMatchObject({ kind: 'degraded' })
    const unread = flowsOn({ sessions: { ...stores.sessions, find: away } })
    await expect(unread.enroll(who, await session(), input, HINTS)).rejects.toMatchObject({ kind: 'degraded' })
    expect((await verify(input)).authentication?.reason).toBe('')
  })

  it('has the answer of a refused call only after its pattern is remembered, and 503 if it cannot be', async () => {
    const { verify, fresh, who, session } = await enrolled(912)
    const input = fresh()
    const forgetful = flowsOn({ refusedPatterns: { remember: away } })
    await expect(forgetful.enroll(who, await session(), input, HINTS)).rejects.toMatchObject({ kind: 'degraded' })
    expect((await verify(input)).authentication?.reason).toBe('')
    const next = fresh()
    await expect(flowsOn().enroll(who, 'ended', next, HINTS)).rejects.toMatchObject({ kind: 'session-missing' })
    expect((await verify(next)).authentication?.reason).toBe('fraud-detected')
  })

  it('in the same refused state gets the same answer again', async () => {
    const { fresh, who, session } = await enrolled(913)
    const [input, token] = [fresh(), await session()]
    for (let n = 0; n < 3; n++)
      await expect(flowsOn().enroll(who, token, input, HINTS)).rejects.toMatchObject({ kind: 'profile-complete' })
  })
})

it('a refused pattern is remembered by the scan of its call, and scanned only if the call did not', async () => {
  const { fresh, who, session } = await enrolled(914)
  const { scoring } = flows.needs
  let scans = 0
  const score: typeof scoring.score = (task) => {
    scans++
    return scoring.score(task)
  }
  const counting = createPatternFlows({ ...flows.needs, scoring: { ...scoring, score }, create: flows.accounts.create })
  for (const [token, kind] of [
    [await session(), 'profile-complete'],
    ['ended', 'session-missing'],
  ] as const) {
    scans = 0
    await expect(counting.enroll(who, token, fresh(), HINTS)).rejects.toMatchObject({ kind })
    expect(scans).toBe(1)
  }
})

describe('a legacy call that enrolls', () => {
  it('verifies the pattern if the profile was completed meanwhile, and does not call it a replay of itself', async () => {
    const { fresh, who } = await enrolled(2024)
    const { accounts } = flows.stores
    let reads = 0
    // The first two reads are from before the last reference: whether the user exists, and whether the profile is complete.
    const find: typeof accounts.find = async (...call) => {
      const found = await accounts.find(...call)
      if (found?.member == null || reads++ > 1) return found
      return { ...found, member: { ...found.member, nPatternsRef: 4, nVisible: 4, completedAt: null } }
    }
    const call = { who, token: null, enrolls: true, input: fresh(), hints: HINTS }
    const answer = await flowsOn({ accounts: { ...accounts, find } }).legacyVerify(call)
    expect(answer).toMatchObject({ enrollment: null, authentication: { reason: '' } })
  })
})

it('adaptive references do not lift a verdict of a bot', async () => {
  const { verify, fresh } = await enrolled(2024)
  const { profiles } = flows.stores
  // The newest of the references counts as an adaptive one.
  const references: typeof profiles.references = async (...of) =>
    (await profiles.references(...of)).map((one, i) => (i === 4 ? { ...one, kind: 'adaptive' } : one))
  const { scoring } = flows.needs
  const wasBot: boolean[] = []
  const score: typeof scoring.score = async (task) => {
    const result = await scoring.score(task)
    if (!result.ok) return result
    wasBot.push(wasBot.length === 0)
    return { ok: true, reading: { ...result.reading, bot: wasBot.at(-1) === true, confidence: 0.45 } }
  }
  const flow = createPatternFlows({
    ...flows.needs,
    adaptation: true,
    people: createPersonCache(1e6),
    profiles: { ...profiles, references },
    scoring: { ...scoring, score },
    create: flows.accounts.create,
  })
  const answer = await verify(fresh(), flow)
  expect(answer.authentication?.reason).toBe('detection-bot')
  expect(wasBot).toEqual([true])
})
