import { createKeystride, type Keystride, KeystrideError, type SignIn, type SignInState } from '@keystride/client'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type MadeUpPerson, person, wirePattern } from '../../src/typist/made-up-person.js'
import { text } from '../harness/enrolled.js'
import { startService, type TestService } from '../harness/service.js'
import { freshDatabase } from '../servers/database.js'

/** Number of walks; 10,000 take twenty minutes. */
const WALKS = Number(process.env.SIGN_IN_WALKS ?? 120)
const STEPS_MAX = 14
const KINDS: readonly SignIn['kind'][] = [
  'type',
  'enroll',
  'later',
  'code-needed',
  'choose-member',
  'not-enrolled',
  'authenticated',
  'challenged',
  'blocked',
  'start-over',
  'locked',
]

/** The attempts that the service answered during one call of `signIn`, as they were on the wire. */
interface Wire {
  readonly path: string
  readonly method: string
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: the answers of any route
  readonly json: any
}

/** The person of one walk. */
interface Walk {
  readonly userRef: string
  readonly owner: MadeUpPerson
  state: SignInState | undefined
  /** The words that the last result shows. */
  words: readonly string[] | null
  /** The pattern sent last. */
  last: unknown
  typed: number
  locked: boolean
  code: string | null
}

interface Deed {
  readonly pattern?: unknown
  readonly securityCode?: string
  readonly state?: SignInState | undefined
  readonly mayEnroll?: boolean
}

describe('the sign-in of the client, in random walks against the service', () => {
  let service: TestService
  let client: Keystride
  let wire: Wire[] = []
  let stop: () => Promise<void>
  const reached = new Map<string, number>()
  beforeAll(async () => {
    const database = await freshDatabase()
    service = await startService(database.url, { more: { REPLAY: 'reject' } })
    const listening: typeof fetch = async (url, init) => {
      const answer = await fetch(url, init)
      const copy = answer.clone()
      const path = new URL(String(url)).pathname
      wire.push({ path, method: init?.method ?? '', status: answer.status, json: await copy.json() })
      return answer
    }
    client = createKeystride({ url: service.core.replace(/\/core$/, ''), apikey: service.apikey, fetch: listening })
    const policy = (await service.dashboard('GET', '/default-policy')).json.data
    const fallback = { ...policy.security_code_fallback, enabled: true, max_biometric_attempts: 2 }
    const body = { ...policy, security_code_fallback: fallback }
    await service.dashboard('PUT', `/policies/${policy.id}`, { body })
    stop = async () => {
      await service.close()
      await database.drop()
    }
  })
  afterAll(async () => stop())

  /** One call of `signIn`, and the rules that its result must keep, by what was on the wire. */
  async function step(walk: Walk, deed: Deed): Promise<void> {
    wire = []
    const state = 'state' in deed ? deed.state : walk.state
    // The caller keeps the state as JSON.
    const given = state === undefined ? undefined : (JSON.parse(JSON.stringify(state)) as SignInState)
    let result: SignIn
    try {
      result = await client.signIn({ userRef: walk.userRef, ip: '192.0.2.7', ...deed, state: given })
    } catch (error) {
      expect(error).toBeInstanceOf(KeystrideError)
      // There were too many invalid patterns, or the account was deleted and created again: the same call may be repeated.
      expect(String(error)).toMatch(/try again/)
      expect([429, 503], String(error)).toContain((error as KeystrideError).status)
      count('try again')
      return
    }
    judge(walk, deed, result)
    count(`${result.kind}${'by' in result ? ` by ${result.by}` : ''}${'reason' in result ? ` ${result.reason}` : ''}`)
    walk.state = 'state' in result ? result.state : undefined
    walk.words = wordsOf(result)
  }
  const wordsOf = (result: SignIn): readonly string[] | null => {
    if ('words' in result) return result.words.suggestedWords
    return 'next' in result && result.next.mode === 'type' ? result.next.words.suggestedWords : null
  }
  const count = (name: string) => reached.set(name, (reached.get(name) ?? 0) + 1)

  function judge(walk: Walk, deed: Deed, result: SignIn): void {
    const about = JSON.stringify({ deed: Object.keys(deed), result, wire })
    expect(KINDS, about).toContain(result.kind)
    const verifies = wire.filter(({ path }) => path.endsWith('/verify'))
    const enrolled = wire.filter(({ path, method }) => path.endsWith('/typing-patterns') && method === 'POST')
    // One call verifies or enrolls at most once, and never does both.
    expect(verifies.length + enrolled.length, about).toBeLessThanOrEqual(1)
    const answer = verifies[0]?.status === 200 ? verifies[0].json : null
    const clean =
      answer !== null &&
      answer.authentication.authenticated === true &&
      answer.authentication.recommendedAction === 'auth' &&
      answer.enrollmentRequired === false &&
      answer.reason === ''
    // Rule 2: a login needs a clean answer by typing.
    const byTyping = clean && answer.authentication.authMethod === 'biometric'
    expect(result.kind === 'authenticated', about).toBe(byTyping)
    // Rule 3: a code is a challenged login.
    const byCode = clean && answer.authentication.authMethod === 'security_code'
    expect(result.kind === 'challenged' && result.by === 'security_code', about).toBe(byCode)
    if (deed.securityCode !== undefined) expect(result.kind, about).not.toBe('authenticated')
    if (deed.pattern === undefined && deed.securityCode === undefined) expect(verifies, about).toEqual([])
    // Rule 4: where enrollment is required, there is no login.
    if (answer?.enrollmentRequired === true) expect(['enroll', 'not-enrolled', 'type'], about).toContain(result.kind)
    // Rule 5: a machine is blocked.
    if (answer?.reason === 'detection-bot')
      expect(result, about).toMatchObject({ kind: 'blocked', reason: 'detection-bot' })
    if (answer !== null && answer.action === 'rejected')
      expect(['blocked', 'challenged'].includes(result.kind), about).toBe(true)
    if (result.kind === 'enroll') {
      expect(result.done, about).toBeLessThan(result.target)
      expect(result.words.suggestedWords.length, about).toBeGreaterThan(0)
    }
    if (result.kind === 'later') expect(enrolled[0]?.status, about).toBe(429)
    if (result.kind === 'type') expect(result.words.suggestedWords.length, about).toBeGreaterThan(0)
    if (result.kind === 'authenticated') expect(result.userRef, about).toBe(walk.userRef.toLowerCase())
    if (deed.mayEnroll === false) {
      expect(result.kind, about).not.toBe('enroll')
      expect(
        wire.filter(({ path, method }) => method === 'POST' && /\/users\/[^/]+$/.test(path)),
        about,
      ).toEqual([])
    }
    if (walk.locked) expect(['authenticated', 'challenged', 'type'], about).not.toContain(result.kind)
    // A person who may start over is not locked.
    const over = result.kind === 'start-over' || ('next' in result && result.next.mode === 'start-over')
    if (walk.locked) expect(over, about).toBe(false)
    if ('state' in result) expect(JSON.parse(JSON.stringify(result)), about).toEqual(result)
  }

  type Real = undefined
  /** A command of the walk; it may always run. */
  const command = (name: string, run: (walk: Walk) => Promise<unknown>) =>
    fc.constant({
      check: () => true,
      async run(walk: Walk, _: Real): Promise<void> {
        await run(walk)
      },
      toString: () => name,
    } satisfies fc.AsyncCommand<Walk, Real>)

  const shownTo = ({ words, typed }: Walk): string => words?.join(' ') ?? text(typed)
  const types = (walk: Walk, who: MadeUpPerson): unknown => {
    walk.typed++
    walk.last = who.types(shownTo(walk), walk.typed)
    return walk.last
  }
  /** Types far more slowly than any owner. */
  const stranger = (walk: Walk) => {
    walk.typed++
    return person(500_000 + walk.typed).types(shownTo(walk), walk.typed, { tempo: 2 })
  }
  const at = ({ userRef }: Walk) => `/users/${encodeURIComponent(userRef)}`
  const even = (walk: Walk) => wirePattern([...shownTo(walk)].map((letter, i) => [letter, i * 100, i * 100 + 60]))
  const act = (walk: Walk, action: string) => service.dashboard('POST', `${at(walk)}/actions`, { body: { action } })
  async function setCode(walk: Walk): Promise<void> {
    const { session } = await service.bootstrap(walk.userRef)
    const set = await service.call('PUT', `${at(walk)}/security-code`, { session, body: { securityCode: '749205' } })
    if (set.status === 200) walk.code = '749205'
  }
  async function issueCode(walk: Walk): Promise<void> {
    const { session } = await service.bootstrap(walk.userRef)
    const issued = await service.call('POST', `${at(walk)}/security-code`, { session })
    if (issued.status === 200) walk.code = issued.json.securityCode
  }
  async function enrollsAll(walk: Walk): Promise<void> {
    for (let n = 0; n < 8; n++) {
      await step(walk, {})
      if (walk.state?.enrolling !== true) return
      await step(walk, { pattern: types(walk, walk.owner) })
    }
  }

  const commands = fc.commands(
    [
      command('begins', (walk) => step(walk, {})),
      command('begins anew', (walk) => step(walk, { state: undefined })),
      command('types', (walk) => step(walk, { pattern: types(walk, walk.owner) })),
      command('types as JSON', (walk) => step(walk, { pattern: JSON.stringify(types(walk, walk.owner)) })),
      command('types without a state', (walk) => step(walk, { pattern: types(walk, walk.owner), state: undefined })),
      command('enrolls', enrollsAll),
      command('another person types', (walk) => step(walk, { pattern: stranger(walk) })),
      command('another person uses up the session', async (walk) => {
        for (let tries = 0; tries < 3; tries++) await step(walk, { pattern: stranger(walk) })
      }),
      command('a machine types', (walk) => step(walk, { pattern: even(walk) })),
      command('repeats a pattern', (walk) => step(walk, { pattern: walk.last ?? {} })),
      command('sends junk', (walk) => step(walk, { pattern: { kevt: 'no' } })),
      command('sends text that is not JSON', (walk) => step(walk, { pattern: '{"kevt":' })),
      command('adds a code and a member to a pattern', (walk) =>
        step(walk, { pattern: { ...(types(walk, walk.owner) as object), securityCode: '749205', member_ref: 'bob' } }),
      ),
      command('sends a code in place of a pattern', (walk) => step(walk, { pattern: { securityCode: walk.code } })),
      command('sets a code', setCode),
      command('gets a temporary code', issueCode),
      command('gives the code', (walk) => step(walk, { securityCode: walk.code ?? '111111' })),
      command('gives a wrong code', (walk) => step(walk, { securityCode: '830264' })),
      command('gives no number as code', (walk) => step(walk, { securityCode: 'password' })),
      command('is not to be enrolled', (walk) => step(walk, { mayEnroll: false })),
      command('types, is not to be enrolled', (walk) =>
        step(walk, { mayEnroll: false, pattern: types(walk, walk.owner) }),
      ),
      command('loses the session', (walk) => {
        const { state } = walk
        return step(walk, {
          pattern: types(walk, walk.owner),
          state: state === undefined ? undefined : { ...state, sessionId: 'A'.repeat(43) },
        })
      }),
      command('brings the state of another', async (walk) => {
        const other = await client.signIn({ userRef: 'somebody-else', ip: '192.0.2.8' })
        if ('state' in other) await step(walk, { pattern: types(walk, walk.owner), state: other.state })
      }),
      command('claims to be enrolled', (walk) => {
        const { state } = walk
        return step(walk, {
          pattern: types(walk, walk.owner),
          state: state === undefined ? undefined : { ...state, enrolling: !state.enrolling },
        })
      }),
      command('is locked', async (walk) => {
        walk.locked = (await act(walk, 'lock')).status === 200 || walk.locked
      }),
      command('is unlocked', async (walk) => {
        if ((await act(walk, 'unlock')).status === 200) walk.locked = false
      }),
      command('is reset', async (walk) => {
        // A reset opens typing again, also after the lock of an administrator.
        if ((await service.call('DELETE', `${at(walk)}/typing-patterns`)).status === 200) walk.locked = false
      }),
      command('is deleted', async (walk) => {
        if ((await service.call('DELETE', at(walk))).status === 200) Object.assign(walk, { locked: false, code: null })
      }),
    ],
    { maxCommands: STEPS_MAX, size: 'max' },
  )

  it(`end in a declared state with no rule broken (${WALKS} walks)`, {
    timeout: Math.max(300_000, WALKS * 5_000),
  }, async () => {
    let n = 0
    await fc.assert(
      fc.asyncProperty(commands, async (walked) => {
        const walk = (): Walk => ({
          userRef: `Walker-${++n}`,
          owner: person(40_000 + n),
          state: undefined,
          words: null,
          last: null,
          typed: 0,
          locked: false,
          code: null,
        })
        const model = walk()
        // Two walks of three begin with a profile, one of them with a code.
        if (n % 3 > 0) await enrollsAll(model)
        if (n % 3 > 1) await setCode(model)
        await fc.asyncModelRun(() => ({ model, real: undefined }), walked)
      }),
      { numRuns: WALKS, seed: 20_261_127, endOnFailure: true },
    )
    // Enrollments without an interval wait only after many refused patterns: too rare for a short run.
    for (const kind of KINDS.filter((one) => one !== 'choose-member' && one !== 'later'))
      expect(
        [...reached.keys()].some((name) => name.startsWith(kind)),
        `${kind} in ${[...reached.keys()]}`,
      ).toBe(true)
    console.log([...reached].map(([name, times]) => `${name}: ${times}`).join(', '))
  })
})
