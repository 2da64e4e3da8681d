import { describe, expect, inject, it, onTestFinished } from 'vitest'
import type { Member } from '../../../src/domain/account.js'
import { Refusal } from '../../../src/domain/refusal.js'
import { createSetBuilder } from '../../../src/flows/attempt/build-sets.js'
import { type ComparedPerson, enrolledSet } from '../../../src/flows/attempt/compared-with.js'
import { openedSet } from '../../../src/flows/attempt/comparison-set.js'
import { idsOfKnown, type KnownPatterns, sketchesOfKnown } from '../../../src/flows/attempt/known-patterns.js'
import { rememberingRefused } from '../../../src/flows/attempt/refused-patterns.js'
import { createVerify } from '../../../src/flows/attempt/verify.js'
import { createBootstrap } from '../../../src/flows/session/bootstrap.js'
import { modelFile, wasmFile } from '../../../src/scoring/artifacts.js'
import { fitOf, fitOfReferences } from '../../../src/scoring/profile-template.js'
import { openScorer } from '../../../src/scoring/scorer.js'
import { connectRedis } from '../../../src/storage/redis/client.js'
import { redisSessions } from '../../../src/storage/redis/session.js'
import { person } from '../../../src/typist/made-up-person.js'
import { text } from '../../harness/enrolled.js'
import { HINTS, newUser, startFlows } from '../real-flows.js'

const flows = await startFlows()
const { needs, needsOfProcess, organizationId, stores, bootstrap, enroll, profiles } = flows
const { kernel } = openScorer(wasmFile(), modelFile())
let seed = 4000

type Needs = ReturnType<typeof needsOfProcess>

/** A person with five references, and their typing. */
async function enrolled() {
  const who = await newUser(flows)
  const typist = person(seed++)
  let next = 0
  const fresh = () => Buffer.from(JSON.stringify(typist.types(text(next), next++)))
  const token = (await bootstrap(who, null, HINTS)).sessionToken
  for (let stored = 0; stored < 5; ) {
    const answer = await enroll(who, token, { kind: 'pattern', body: fresh() }, HINTS).catch((error: unknown) => {
      if (error instanceof Refusal && error.kind === 'bot-detected') return { patternId: null }
      throw error
    })
    if (answer.patternId !== null) stored += 1
  }
  return { who, fresh }
}
type Enrolled = Awaited<ReturnType<typeof enrolled>>

/** Verifies a pattern in a new session, which another process has begun. */
async function verify({ who, fresh }: Enrolled, by: Needs, body: Uint8Array = fresh()) {
  const { sessionToken } = await createBootstrap({ ...needsOfProcess(), sessions: by.sessions })(who, null, HINTS)
  const input = { kind: 'pattern', body } as const
  const answering = createVerify(by)(who, sessionToken, input, HINTS)
  return rememberingRefused(by, { who, token: sessionToken, input }, answering)
}

async function personOf({ who }: Enrolled): Promise<ComparedPerson & { readonly member: Member }> {
  const found = await stores.accounts.find(organizationId, who.userRef, null, { withComparisonSet: true })
  if (found?.member == null) throw new Error('the person is gone')
  return { ...found, member: found.member, who }
}

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

const shown = (known: KnownPatterns) => ({
  ids: idsOfKnown(known),
  sketches: Buffer.concat(sketchesOfKnown(known)).toString('hex'),
  attemptsVersion: known.attemptsVersion,
})

/** Expects that the stored set holds what the rows hold. Returns the number of entries in its tail. */
async function expectEqual(of: Enrolled): Promise<number | null> {
  const found = await personOf(of)
  const rows = await enrolledSet(needs, found)
  const set = found.comparisonSet && (await openedSet(needs, found, found.comparisonSet))
  if (set == null) throw new Error('the person has no comparison set')
  expect(set.references.map(({ id, sample }) => [id, hex(sample)])).toEqual(
    rows.references.map(({ id, sample }) => [id, hex(sample)]),
  )
  expect([set.hasAdaptive, shown(set.known)]).toEqual([rows.hasAdaptive, shown(rows.known)])
  const fit = fitOfReferences(
    kernel,
    rows.references.map(({ sample }) => sample),
  )
  expect(set.template && hex(fitOf(set.template))).toBe(fit && hex(fit))
  return set.known.nInTail
}

describe('the comparison set of a member', () => {
  it('equals what its rows give, after successes, failures, refused calls and adaptation on several processes', async () => {
    const ada = await enrolled()
    const eve = person(seed++)
    const processes = [0, 1].map(() => ({ ...needsOfProcess(), adaptation: true }))
    const tails: (number | null)[] = []
    for (let n = 0; n < 16; n++) {
      const by = processes[n % 3 === 0 ? 1 : 0] ?? needs
      const stranger = Buffer.from(JSON.stringify(eve.types(text(900 + n), n)))
      await verify(ada, by, n % 5 === 4 ? stranger : ada.fresh())
      if (n % 6 === 5) await verify(ada, by, Buffer.from('{}')).catch(() => {})
      tails.push(await expectEqual(ada))
    }
    expect(Math.max(...tails.map(Number))).toBe(5)
    expect(tails.filter((n) => n === 0).length).toBeGreaterThan(1)
  })

  it('is deleted with a change of the references, and made again by the next attempt and by the job', async () => {
    const ada = await enrolled()
    await verify(ada, needs)
    const [newest] = (await stores.profiles.references(organizationId, (await personOf(ada)).member.id)).slice(-1)
    await profiles.removeOne(ada.who, newest?.id ?? '')
    expect((await personOf(ada)).comparisonSet).toBeNull()
    const token = (await bootstrap(ada.who, null, HINTS)).sessionToken
    await enroll(ada.who, token, { kind: 'pattern', body: ada.fresh() }, HINTS)
    await createSetBuilder({ ...needs, openKernel: () => kernel })(AbortSignal.timeout(60_000))
    expect(await expectEqual(ada)).toBe(0)
    await verify(ada, needsOfProcess())
    expect(await expectEqual(ada)).toBe(1)
    await profiles.reset(ada.who)
    expect((await personOf(ada)).comparisonSet).toBeNull()
  })

  it('does not open for another member, and is then read from the rows', async () => {
    const [ada, bob] = [await enrolled(), await enrolled()]
    await verify(ada, needs)
    const [{ comparisonSet, ...of }, other] = [await personOf(ada), await personOf(bob)]
    if (comparisonSet == null) throw new Error('no set')
    const { generation, profileVersion } = other.member
    const moved = { ...comparisonSet, generation, profileVersion }
    await expect(openedSet(needs, other, moved)).rejects.toThrow('a sealed comparison set was altered, or moved')
    const { attemptsVersion } = other.member
    await stores.comparisonSets.put(organizationId, {
      ...moved,
      attemptsVersion,
      memberId: other.member.id,
      oldestAt: 0,
    })
    expect((await verify(bob, needsOfProcess())).authentication?.nPatternsRefUsed).toBe(5)
    expect(await openedSet(needs, of, comparisonSet)).not.toBeNull()
    expect(await expectEqual(bob)).toBe(0)
  })
})

describe('a session in Redis', () => {
  const url = inject('redisUrl')
  it.skipIf(url === null)(
    'carries the person, so that a verify on another process reads nothing from the database',
    async () => {
      const redis = await connectRedis({ url: url ?? '', patience: 200 })
      onTestFinished(() => redis.close())
      const sessions = redisSessions(redis)
      const ada = await enrolled()
      await verify(ada, { ...needs, sessions })
      const read: string[] = []
      const noting = <Store extends object>(store: Store): Store =>
        new Proxy(store, {
          get(target, method) {
            read.push(String(method))
            return Reflect.get(target, method)
          },
        })
      const by = {
        ...needsOfProcess(),
        sessions: noting(sessions),
        ...{ accounts: noting(stores.accounts), profiles: noting(stores.profiles) },
        ...{ authentications: noting(stores.authentications), comparisonSets: noting(stores.comparisonSets) },
      }
      const { sessionToken } = await createBootstrap({ ...needsOfProcess(), sessions })(ada.who, null, HINTS)
      const answer = await createVerify(by)(ada.who, sessionToken, { kind: 'pattern', body: ada.fresh() }, HINTS)
      expect(answer.authentication?.nPatternsRefUsed).toBe(5)
      expect(read.filter((method) => !['keepsCarried', 'changeWords'].includes(method))).toEqual(['reserve', 'record'])
      expect(await expectEqual(ada)).toBe(1)
    },
  )

  it.skipIf(url === null)(
    'leaves the person in no cache after a success, and in the caches after a failure',
    async () => {
      const redis = await connectRedis({ url: url ?? '', patience: 200 })
      onTestFinished(() => redis.close())
      const by = { ...needsOfProcess(), sessions: redisSessions(redis) }
      const [ada, eve] = [await enrolled(), person(seed++)]
      const memberId = (await personOf(ada)).member.id
      const cached = () => [by.people.recall(ada.who) !== null, by.memory.has(memberId)]
      expect((await verify(ada, by)).authentication?.authenticated).toBe(true)
      expect(cached()).toEqual([false, false])
      const other = Buffer.from(JSON.stringify(eve.types(text(0), 0)))
      expect((await verify(ada, by, other)).authentication?.authenticated).toBe(false)
      expect(cached()).toEqual([true, true])
    },
  )
})
