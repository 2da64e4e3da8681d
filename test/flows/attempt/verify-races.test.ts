import { v7 } from 'uuid'
import { describe, expect, it } from 'vitest'
import type { ProfileTargets } from '../../../src/domain/biometric-status.js'
import { Refusal } from '../../../src/domain/refusal.js'
import { REPLAY_NEAR_MS } from '../../../src/domain/replay.js'
import { createAccountFlows } from '../../../src/flows/account/accounts.js'
import { createPersonCache, type PersonCache } from '../../../src/flows/attempt/person-cache.js'
import { createVerify } from '../../../src/flows/attempt/verify.js'
import type { LanguageHints } from '../../../src/flows/organization/suggested-words.js'
import { sha256Hex } from '../../../src/flows/process/tokens.js'
import { createEnroll } from '../../../src/flows/profile/enroll.js'
import { createProfileFlows } from '../../../src/flows/profile/profiles.js'
import { createBootstrap } from '../../../src/flows/session/bootstrap.js'
import type { Designation, Presented } from '../../../src/flows/session/person.js'
import type { Scoring } from '../../../src/scoring/scoring.js'
import type { KnownPattern } from '../../../src/storage/authentication.js'
import { person } from '../../../src/typist/made-up-person.js'
import type { Stores } from '../../../src/wiring/stores.js'
import { text } from '../../harness/enrolled.js'
import { mark } from '../../harness/fixtures.js'
import { HINTS, startFlows } from '../real-flows.js'

const bytes = (pattern: unknown) => Buffer.from(JSON.stringify(pattern))
const { stores, needsOfProcess, organizationId } = await startFlows()
const { scoring } = needsOfProcess()
let seed = 1

/** The flows of a process on the shared stores, with replacements by the test. */
function flowsOn(
  changes: Partial<
    Pick<Stores, 'accounts' | 'profiles' | 'authentications'> & {
      scoring: Scoring
      targets: ProfileTargets
      people: PersonCache
    }
  > = {},
) {
  const needs = { ...needsOfProcess(), adaptation: true, ...changes }
  const verify = createVerify(needs)
  return {
    accounts: createAccountFlows({ ...needs, securityCodes: { issueFirst: async () => null } }),
    bootstrap: createBootstrap(needs),
    enroll: createEnroll(needs),
    profiles: createProfileFlows(needs),
    verify: (who: Designation, token: Presented, body: Uint8Array, hints: LanguageHints) =>
      verify(who, token, { kind: 'pattern', body }, hints),
  }
}

/** Handles the refusal of a made-up person who is classified as a bot. */
const ifBot = (error: unknown) => {
  if (error instanceof Refusal && error.kind === 'bot-detected') return { patternId: null }
  throw error
}

/** A person with five references. */
async function enrolled() {
  const flows = flowsOn()
  const who = { organizationId, userRef: `p${seed}`, memberRef: null }
  const typist = person(seed++)
  const { account, member } = await flows.accounts.create(who, { type: null, displayName: null, withCode: false })
  let next = 0
  const fresh = () => bytes(typist.types(text(next), next++))
  const session = async () => (await flows.bootstrap(who, null, HINTS)).sessionToken
  const memberId = member?.id ?? ''
  /** Enrolls five patterns of this person, or of another one who types in the name of this one. */
  const enroll = async (typed = fresh) => {
    const token = await session()
    const stored: { patternId: string; body: Buffer }[] = []
    while (stored.length < 5) {
      const body = typed()
      const { patternId } = await flows.enroll(who, token, { kind: 'pattern', body }, HINTS).catch(ifBot)
      if (patternId !== null) stored.push({ patternId, body })
    }
    return stored
  }
  const stored = await enroll()
  return {
    ...{ who, typist, accountId: account.id, memberId, fresh, session, enroll },
    patternIds: stored.map(({ patternId }) => patternId),
    bodies: stored.map(({ body }) => body),
    references: () => stores.profiles.references(organizationId, memberId),
    used: async (token: string) =>
      (await stores.sessions.find(organizationId, who.userRef, sha256Hex(token)))?.used.biometric,
    records: async () => (await stores.authentications.list(organizationId, who.userRef, 100)).length,
  }
}

/** Scoring that runs `event` once, after the first score and before the caller gets the result. */
function scoringThen(event: () => Promise<unknown>) {
  let calls = 0
  const score: Scoring['score'] = async (task) => {
    const found = await scoring.score(task)
    if (calls++ === 0) await event()
    return found
  }
  return { ...scoring, score, calls: () => calls }
}

describe('while a pattern is being scored', () => {
  it('a removed reference is excluded from the verdict: the pattern is scored again', async () => {
    const one = await enrolled()
    const scores = scoringThen(() => flowsOn().profiles.removeOne(one.who, one.patternIds[0] ?? ''))
    const four = { targetRefPatterns: 4, fullRefPatterns: 10 }
    const flows = flowsOn({ scoring: scores, targets: four })
    const { authentication } = await flows.verify(one.who, await one.session(), one.fresh(), HINTS)
    expect(scores.calls()).toBe(2)
    expect(authentication).toMatchObject({ nPatternsRef: 4, nPatternsRefUsed: 4 })
    expect(await one.records()).toBe(1)
  })

  it('a removal that leaves too few references prevents verdict and record', async () => {
    const one = await enrolled()
    const scores = scoringThen(() => flowsOn().profiles.removeOne(one.who, one.patternIds[0] ?? ''))
    const answer = await flowsOn({ scoring: scores }).verify(one.who, await one.session(), one.fresh(), HINTS)
    expect(answer).toMatchObject({ action: 'enroll', authentication: null, biometricStatus: 'in-progress' })
    expect([scores.calls(), await one.records()]).toEqual([1, 0])
  })

  it('a profile that is reset and enrolled again is not used for an earlier pattern', async () => {
    const [one, other] = [await enrolled(), await enrolled()]
    const scores = scoringThen(async () => {
      await flowsOn().profiles.reset(one.who)
      await one.enroll(other.fresh)
    })
    const verified = flowsOn({ scoring: scores }).verify(one.who, await one.session(), one.fresh(), HINTS)
    await expect(verified).rejects.toMatchObject({ kind: 'session-missing' })
    expect(await one.records()).toBe(0)
  })

  it('a lock of the person causes a refusal and releases the reservation', async () => {
    const one = await enrolled()
    const scores = scoringThen(() => stores.attemptLocks.close(organizationId, one.memberId))
    const token = await one.session()
    const answer = await flowsOn({ scoring: scores }).verify(one.who, token, one.fresh(), HINTS)
    expect(answer).toMatchObject({ action: 'refused', refusedBecause: 'typing-locked', authentication: null })
    expect(await one.used(token)).toBe(0)
    expect([scores.calls(), await one.records()]).toEqual([1, 0])
  })
})

describe('adaptation after a clean pass', () => {
  /** Repeats attempts until the confidence of one allows an adaptation of the profile. */
  async function cleanPass(one: Awaited<ReturnType<typeof enrolled>>, flows = flowsOn()) {
    for (let tries = 0; tries < 20; tries++) {
      const answer = await flows.verify(one.who, await one.session(), one.fresh(), HINTS)
      if ((answer.authentication?.confidence ?? 0) >= 0.95) return answer
    }
    throw new Error('no attempt of twenty has the confidence that allows an adaptation: choose another seed')
  }
  const adaptive = async (one: Awaited<ReturnType<typeof enrolled>>) =>
    (await one.references()).filter(({ kind }) => kind === 'adaptive')

  it('does not happen if a compared reference is removed after the record', async () => {
    const one = await enrolled()
    const profiles: Stores['profiles'] = {
      ...stores.profiles,
      async adapt(...learned) {
        await stores.profiles.removeOne(organizationId, one.memberId, one.patternIds[0] ?? '')
        return stores.profiles.adapt(...learned)
      },
    }
    expect((await cleanPass(one, flowsOn({ profiles }))).action).toBe('verified')
    expect(await adaptive(one)).toEqual([])
  })

  it('does not fail the sign-in while the store is unavailable, and happens with the next one', async () => {
    const one = await enrolled()
    const adapt = () => Promise.reject(new Refusal('degraded', 'away', 1))
    const away = flowsOn({ profiles: { ...stores.profiles, adapt } })
    expect((await cleanPass(one, away)).action).toBe('verified')
    expect(await adaptive(one)).toEqual([])
    await cleanPass(one)
    expect(await adaptive(one)).toHaveLength(1)
  })
})

/** The confidence of a pattern against the stored references. */
async function confidenceFromStores(memberId: string, accountId: string, body: Uint8Array): Promise<number | null> {
  const stored = await stores.profiles.references(organizationId, memberId)
  const references = await Promise.all(
    stored
      .filter(({ kind }) => kind === 'enrolled')
      .map(({ id, generation, sealed }) =>
        stores.vault.open(organizationId, { accountId, memberId, patternId: id, generation }, sealed),
      ),
  )
  const result = await scoring.score({ body, references, replayKey: new Uint8Array(32) })
  return result.ok ? result.reading.confidence : null
}

describe('a process with a cached person', () => {
  /** A process that has verified a person, with functions for further attempts of this person. */
  async function remembering(changes: Parameters<typeof flowsOn>[0] = {}) {
    const one = await enrolled()
    const people = createPersonCache(1e6)
    const flows = flowsOn({ people, ...changes })
    const verify = async (body = one.fresh()) => flows.verify(one.who, await one.session(), body, HINTS)
    // The first sign-in of a day adapts the profile.
    for (let n = 0; n < 2; n++) await verify()
    expect(people.recall(one.who)).not.toBeNull()
    return { ...one, people, flows, verify }
  }

  it('gives the confidence of a process that reads the stores, without reading references', async () => {
    const reads = { n: 0 }
    const counting = {
      ...stores.profiles,
      references: (...who: [string, string]) => {
        reads.n++
        return stores.profiles.references(...who)
      },
    }
    const one = await remembering({ profiles: counting })
    const readBefore = reads.n
    for (let n = 0; n < 5; n++) {
      const body = one.fresh()
      const confidence = await confidenceFromStores(one.memberId, one.accountId, body)
      expect((await one.verify(body)).authentication?.confidenceBiometrics).toBe(confidence)
    }
    expect(reads.n).toBe(readBefore)
  })

  it.each(['before', 'after'])(
    'excludes a reference that another process has removed, in a session begun %s',
    async (begun) => {
      const four = { targetRefPatterns: 4, fullRefPatterns: 10 }
      const one = await remembering({ targets: four })
      const session = await one.session()
      await flowsOn().profiles.removeOne(one.who, one.patternIds[0] ?? '')
      const token = begun === 'before' ? session : await one.session()
      const { authentication } = await one.flows.verify(one.who, token, one.fresh(), HINTS)
      expect(authentication).toMatchObject({ nPatternsRef: 4, nPatternsRefUsed: 4 })
      expect((await one.verify()).authentication).toMatchObject({ nPatternsRef: 4, nPatternsRefUsed: 4 })
    },
  )

  it.each(['before', 'after'])(
    'detects an attempt that another process has judged since, in a session begun %s, and records once',
    async (begun) => {
      const outcomes: string[] = []
      const reads = { n: 0 }
      const { accounts, authentications } = stores
      const one = await remembering({
        accounts: {
          ...accounts,
          find: (...who) => {
            reads.n++
            return accounts.find(...who)
          },
        },
        authentications: {
          ...authentications,
          record: async (...attempt) => {
            const outcome = await authentications.record(...attempt)
            outcomes.push(outcome)
            return outcome
          },
        },
      })
      const elsewhere = flowsOn()
      const begins = async () => (await elsewhere.bootstrap(one.who, null, HINTS)).sessionToken
      const early = await Promise.all([begins(), begins(), begins(), begins()])
      const signsIn = async (flows: typeof elsewhere) => {
        const sessionToken = (begun === 'before' ? early.pop() : null) ?? (await begins())
        const [readBefore, recordedBefore] = [reads.n, outcomes.length]
        expect((await flows.verify(one.who, sessionToken, one.fresh(), HINTS)).authentication).not.toBeNull()
        // Made-up people resemble each other so much that a mark is sometimes compared, and cleared, first.
        return [reads.n - readBefore, outcomes.slice(recordedBefore).filter((outcome) => outcome !== 'replay')]
      }
      expect(await signsIn(one.flows)).toEqual([0, ['recorded']])
      await signsIn(elsewhere)
      expect(await signsIn(one.flows)).toEqual([1, ['recorded']])
      expect(await signsIn(one.flows)).toEqual([0, ['recorded']])
    },
  )

  it.each(['before', 'after'])(
    'judges by the policy of the groups that another process has assigned, in a session begun %s',
    async (begun) => {
      const one = await remembering()
      const groups = [`group-${one.who.userRef}`]
      const [usual] = await stores.policies.list(organizationId, false)
      if (usual === undefined) throw new Error('no policy')
      const policy = { ...usual.policy, decision_threshold: 0.99 }
      const strict = await stores.policies.create(organizationId, v7(), { policy, groups }, Date.now())
      const session = await one.session()
      await flowsOn().accounts.change(one.who, { groups })
      // New flows, because a process caches an organization's settings for a second.
      const flows = flowsOn({ people: one.people })
      const token = begun === 'before' ? session : await one.session()
      expect((await flows.verify(one.who, token, one.fresh(), HINTS)).policyId).toBe(strict.id)
    },
  )

  it('scores nothing for a person whose profile another process has reset', async () => {
    const one = await remembering()
    const session = await one.session()
    const records = await one.records()
    await flowsOn().profiles.reset(one.who)
    await expect(one.flows.verify(one.who, session, one.fresh(), HINTS)).rejects.toMatchObject({
      kind: 'session-missing',
    })
    expect(await one.verify()).toMatchObject({ action: 'enroll', authentication: null })
    expect(await one.records()).toBe(records)
  })

  it('does not use the profile of an earlier person with the same name', async () => {
    const [one, other] = [await remembering(), await enrolled()]
    await stores.accounts.remove(organizationId, one.who.userRef)
    await flowsOn().accounts.create(one.who, { type: null, displayName: null, withCode: false })
    await one.enroll(other.fresh)
    await expect(one.verify()).rejects.toMatchObject({ kind: 'degraded' })
    expect((await one.verify()).authentication).toMatchObject({ nPatternsRefUsed: 5, authenticated: false })
    expect((await one.verify(other.fresh())).action).toBe('verified')
  })
})

describe('an edited copy of a pattern that was seen', () => {
  /** The pattern with a pause before one press that is longer by `ms`. */
  function withPause(body: Buffer, press: number, ms: number): Buffer {
    const pattern = JSON.parse(body.toString()) as {
      kevt: { et: number; t: number }[]
      k: { et: number; s: number; h: number }[]
    }
    const from = pattern.k[press]?.et ?? 0
    const moved = (et: number) => (et < from ? et : et + ms)
    const kevt = pattern.kevt.map((event) => ({
      ...event,
      et: moved(event.et),
      t: event.t + moved(event.et) - event.et,
    }))
    const k = pattern.k.map(({ et, h, s, ...key }, i) => ({
      ...key,
      et: moved(et),
      h: moved(et + h) - moved(et),
      s: i === press ? s + ms : s,
    }))
    return bytes({ ...pattern, kevt, k })
  }
  const rejected = { authenticated: false, recommendedAction: 'block', reason: 'fraud-detected' }

  it.each(['that judged the original', 'that judged no attempt', 'that judged an attempt before the original'])(
    'is rejected by a process %s',
    async (process) => {
      const one = await enrolled()
      const [first, other] = [flowsOn(), flowsOn()]
      const send = async (flows: ReturnType<typeof flowsOn>, body: Buffer) =>
        (await flows.verify(one.who, await one.session(), body, HINTS)).authentication
      if (process === 'that judged an attempt before the original') await send(other, one.fresh())
      const original = one.fresh()
      expect(await send(first, original)).not.toBeNull()
      const judge = process === 'that judged the original' ? first : other
      for (const [press, ms] of [
        [10, 180],
        [30, 400],
      ] as const)
        expect(await send(judge, withPause(original, press, ms))).toMatchObject(rejected)
      expect(await send(judge, one.fresh())).not.toMatchObject({ reason: 'fraud-detected' })
    },
  )

  it('of a reference is rejected, and the record names the reference', async () => {
    const one = await enrolled()
    const session = await one.session()
    const copy = withPause(one.bodies[0] ?? bytes({}), 12, 250)
    const { authentication } = await flowsOn().verify(one.who, session, copy, HINTS)
    expect(authentication).toMatchObject({ ...rejected, facts: { copyOf: { patternId: one.patternIds[0] } } })
    expect(authentication?.facts?.copyOf?.chance).toBeLessThan(1e-6)
  })

  it('is authenticated at most once among eight at the same time', async () => {
    const one = await enrolled()
    const original = one.fresh()
    const processes = [flowsOn(), flowsOn()]
    const sessions = await Promise.all(Array.from({ length: 8 }, () => one.session()))
    const answers = await Promise.all(
      sessions.map((session, i) =>
        processes[i % 2]?.verify(one.who, session, withPause(original, 5 + 4 * i, 120 + 40 * i), HINTS),
      ),
    )
    expect(answers.filter((answer) => answer?.authentication?.authenticated).length).toBeLessThanOrEqual(1)
    expect(
      answers.filter((answer) => answer?.authentication?.reason === 'fraud-detected').length,
    ).toBeGreaterThanOrEqual(2)
  })
})

describe('an attempt whose mark resembles a known one', () => {
  /** Stores in which every mark resembles the mark of this pattern, until it is cleared. */
  const likeOne = (pattern: KnownPattern['pattern']): Stores['authentications'] => {
    const exact = mark().exact
    return {
      ...stores.authentications,
      resembling: async () => [{ exact, nBandsShared: 8, pattern }],
      record: async (of, attempt) => {
        const cleared = attempt.replayMark?.cleared?.some((one) => Buffer.compare(one, exact) === 0) ?? true
        return cleared ? stores.authentications.record(of, attempt) : 'replay'
      },
    }
  }

  /** The attempt of a new person, to whose mark only another typing of the same words is similar. */
  async function attemptLikeAnother() {
    const one = await enrolled()
    const typed = (session: number) => bytes(one.typist.types(text(50), session))
    const read = async (body: Uint8Array, references: readonly Uint8Array[]) => {
      const found = await scoring.score({ body, references, replayKey: new Uint8Array(32) })
      if (!found.ok) throw new Error(found.message)
      return found.reading
    }
    const body = typed(50)
    // Searches for a typing at a finite distance of `REPLAY_NEAR_MS` or more: the check accepts it as another one.
    let [session, distanceMs] = [50, Number.NaN]
    let sample: Uint8Array = new Uint8Array()
    while (!(distanceMs >= REPLAY_NEAR_MS && Number.isFinite(distanceMs))) {
      sample = (await read(typed(++session), [])).sample
      distanceMs = (await read(body, [sample])).replayDistanceMs
    }
    const { accountId, memberId } = one
    const binding = { accountId, memberId, patternId: v7(), generation: 0 }
    const sealed = await stores.vault.seal(organizationId, binding, sample)
    const flows = flowsOn({ authentications: likeOne({ binding, sealed }) })
    return { one, ...(await flows.verify(one.who, await one.session(), body, HINTS)) }
  }

  it('signs in if the known pattern is another typing', async () => {
    let { one, authentication } = await attemptLikeAnother()
    // The two typings of some made-up people are so similar that one may be a copy of the other.
    for (let tries = 1; authentication?.reason === 'fraud-detected' && tries < 4; tries++)
      ({ one, authentication } = await attemptLikeAnother())
    expect(authentication?.reason).not.toBe('fraud-detected')
    expect(authentication?.confidenceBiometrics).toBeGreaterThan(0.5)
    expect(await one.records()).toBe(1)
  })

  it('is a replay if the known pattern is deleted', async () => {
    const one = await enrolled()
    const flows = flowsOn({ authentications: likeOne(null) })
    const answer = await flows.verify(one.who, await one.session(), one.fresh(), HINTS)
    expect(answer.authentication).toMatchObject({ recommendedAction: 'block', reason: 'fraud-detected' })
    expect(await one.records()).toBe(1)
  })
})
