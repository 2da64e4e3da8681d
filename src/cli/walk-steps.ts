import { plainLetters } from '../domain/typed-words.js'
import { suggestWords } from '../domain/typing-words.js'
import { parametersOf } from '../http/docs/route-docs.js'
import { person, wirePattern } from '../typist/made-up-person.js'
import { type Ask, TABLES, type WalkAnswer } from './walk-client.js'

/** One part of the interface: its promise, and the calls that throw if it is broken. Steps run in order. */
interface WalkStep {
  readonly promise: string
  readonly walk: () => Promise<void>
}

/** Attempts of each kind that a session has by the default policy. */
const SESSION_ATTEMPTS = 3
/** Patterns that may be refused before an enrollment fails: a made-up person is sometimes taken for a machine. */
const REFUSED_MAX = 15
/** Failed sign-ins that leave the person unlocked (decisions, Verify: five lock). */
const FAILURES_MAX = 4

/** Query that makes the session's words mandatory under any policy. */
const REQUIRED = { words: 'require' }

/** The people of a walk, and the results that later steps need. */
interface Walk {
  /** Calls a route, and throws if it refuses. */
  readonly reply: (...call: Parameters<Ask>) => Promise<WalkAnswer['json']>
  readonly ask: Ask
  readonly run: number
  readonly ann: { readonly userRef: string }
  readonly team: { readonly userRef: string }
  /** Begins a session. Returns its id and its words. */
  readonly session: (path: { readonly userRef: string }) => Promise<{ readonly id: string; readonly words: string[] }>
  /** The next pattern of the person, of these words. */
  readonly pattern: (words: readonly string[]) => unknown
  /** The last pattern that was enrolled. */
  enrolled: unknown
  /** The successful sign-in. */
  authenticationId: string
}

/** The steps with users whose names contain `run`, which no other walk of the organization may have. */
export function walkSteps(ask: Ask, run: number): WalkStep[] {
  const typist = person(run)
  let typed = 0
  const reply: Walk['reply'] = async (...call) => {
    const { status, json } = await ask(...call)
    if (status >= 400) throw new Error(`${call[1]}: ${status} ${json?.message}`)
    return json
  }
  const walk: Walk = {
    ask,
    reply,
    run,
    ann: { userRef: `walk-${run}` },
    team: { userRef: `walk-${run}-team` },
    async session(path) {
      const { sessionId: id, suggestedWords: words } = await reply('core', 'GET /users/{userRef}', { path })
      return { id, words }
    },
    pattern: (words) => typist.types(words.map(plainLetters).join(' '), typed++),
    enrolled: null,
    authenticationId: '',
  }
  return [...opening(walk), ...signIns(walk), ...administration(walk)]
}

const opening = ({ ask, reply, ann }: Walk): WalkStep[] => [
  {
    promise: 'the status answers OK without a key',
    async walk() {
      wanted((await reply('core', 'GET /status', { apikey: '' })).status, 'OK', 'status')
    },
  },
  {
    promise: 'a missing or unknown key is refused by each API',
    async walk() {
      for (const apikey of ['', `ks_${'x'.repeat(43)}`]) {
        refused(await ask('core', 'GET /organization', { apikey }), 401)
        refused(await ask('auth', 'DELETE /api/links/{userRef}', { path: ann, apikey }), 401)
        refused(await ask('dashboard', 'GET /users', { apikey }), 401)
      }
    },
  },
  {
    promise: 'an unknown user is answered 404 with words and a session, then created once',
    async walk() {
      const shell = await ask('core', 'GET /users/{userRef}', { path: ann })
      wanted(shell.status, 404, 'status of the bootstrap')
      wanted(shell.json.suggestedWords.length > 0, true, 'suggested words')
      const create = () => ask('core', 'POST /users/{userRef}', { path: ann })
      wanted([(await create()).status, (await create()).status], [201, 200], 'statuses of two creations')
    },
  },
]

const signIns = (walk: Walk): WalkStep[] => [
  { promise: 'five typing patterns of the session’s words complete a profile', walk: () => enrolls(walk) },
  { promise: 'a replayed pattern is blocked as fraud, and an even one as a bot', walk: () => isNotFooled(walk) },
  { promise: 'the person signs in by typing the session’s words, and by no other text', walk: () => signsIn(walk) },
  { promise: 'a security code is chosen, signs in, and a wrong one does not', walk: () => usesCode(walk) },
  {
    promise: 'a call that needs a session refuses an unknown one',
    async walk() {
      const call = { path: walk.ann, session: 'unknown', body: { securityCode: '749205' } }
      refused(await walk.ask('core', 'POST /users/{userRef}/verify', call), 400)
    },
  },
]

async function enrolls(walk: Walk): Promise<void> {
  const { ask, ann } = walk
  const begun = await walk.session(ann)
  let { words } = begun
  for (let stored = 0, sent = 0; stored < 5; sent++) {
    if (sent === 5 + REFUSED_MAX) throw new Error(`${sent} patterns were sent and ${stored} stored`)
    const body = walk.pattern(words)
    const { status, json, reason } = await ask('core', 'POST /users/{userRef}/typing-patterns', {
      path: ann,
      query: REQUIRED,
      session: begun.id,
      body,
    })
    if (status !== 200) wanted(reason, 'detection-bot', 'reason')
    else {
      stored = json.nPatternsRef
      words = json.suggestedWords
      walk.enrolled = body
    }
  }
}

async function isNotFooled({ reply, session, ann, run, enrolled }: Walk): Promise<void> {
  const { id: begun } = await session(ann)
  const even = wirePattern([...suggestWords('en', run).join(' ')].map((key, i) => [key, i * 100, i * 100 + 60]))
  for (const [body, reason] of [
    [enrolled, 'fraud-detected'],
    [even, 'detection-bot'],
  ]) {
    const json = await reply('core', 'POST /users/{userRef}/verify', { path: ann, session: begun, body })
    wanted([json.reason, json.authentication.authenticated], [reason, false], 'reason and authenticated')
  }
}

async function signsIn(walk: Walk): Promise<void> {
  const { reply, ann } = walk
  // The step before left two failures, and the fifth failure locks the person.
  await reply('dashboard', 'POST /users/{userRef}/actions', { path: ann, body: { action: 'unlock' } })
  for (let failures = 0; walk.authenticationId === ''; ) {
    const begun = await walk.session(ann)
    let { words } = begun
    const verify = (typed: readonly string[]) => ({
      path: ann,
      query: REQUIRED,
      session: begun.id,
      body: walk.pattern(typed),
    })
    const other = await walk.ask('core', 'POST /users/{userRef}/verify', verify([...words].reverse()))
    wanted([other.status, other.reason], [422, 'invalid-data'], 'status and reason of other words')
    for (let n = 0; n < SESSION_ATTEMPTS && walk.authenticationId === ''; n++) {
      const json = await reply('core', 'POST /users/{userRef}/verify', verify(words))
      if (json.authentication.authenticated) walk.authenticationId = json.authentication.id
      else if (++failures === FAILURES_MAX) throw new Error(`${failures} patterns failed, the last: ${json.action}`)
      words = json.nextAttempt?.suggestedWords
    }
  }
}

async function usesCode({ ask, reply, session, ann }: Walk): Promise<void> {
  const { id: begun } = await session(ann)
  const choose = (securityCode: string) =>
    ask('core', 'PUT /users/{userRef}/security-code', { path: ann, session: begun, body: { securityCode } })
  refused(await choose('111111'), 422)
  wanted((await choose('749205')).status, 200, 'status')
  const verify = async (securityCode: string) => {
    const call = { path: ann, session: begun, body: { securityCode } }
    return (await reply('core', 'POST /users/{userRef}/verify', call)).authentication.authenticated
  }
  wanted([await verify('391058'), await verify('749205')], [false, true], 'authenticated')
}

const administration = (walk: Walk): WalkStep[] => [
  {
    promise: 'a shared account has members, each with a profile of their own',
    async walk() {
      const { reply, team } = walk
      await reply('core', 'POST /users/{userRef}', { path: team, body: { type: 'generic', member_ref: 'kim' } })
      await reply('core', 'POST /users/{userRef}', { path: team, body: { member_ref: 'lee' } })
      const { members } = await reply('core', 'GET /users/{userRef}/members', { path: team })
      wanted(members.map(({ memberRef }: { memberRef: string }) => memberRef).sort(), ['kim', 'lee'], 'members')
    },
  },
  {
    promise: 'a profile link is created and revoked',
    async walk() {
      const { reply, ann } = walk
      const { link, key } = await reply('auth', 'POST /api/links/reset-profile/{userRef}', { path: ann })
      wanted(link.endsWith(`/b/${key}`), true, 'the link ends with its key')
      await reply('auth', 'DELETE /api/links/{userRef}', { path: ann })
    },
  },
  {
    promise: 'a policy is created, read and archived',
    async walk() {
      const { reply, run } = walk
      const { data } = await reply('dashboard', 'GET /default-policy')
      const body = { ...data, name: `walk-${run}`, groups: [] }
      const path = { id: (await reply('dashboard', 'POST /policies', { body })).data.id }
      await reply('dashboard', 'GET /policies/{id}', { path })
      await reply('dashboard', 'DELETE /policies/{id}', { path })
    },
  },
  { promise: 'every read of the core and dashboard APIs answers as documented', walk: () => readsEverything(walk) },
  {
    promise: 'a deleted account is gone',
    async walk() {
      for (const path of [walk.ann, walk.team]) {
        await walk.reply('core', 'DELETE /users/{userRef}', { path })
        refused(await walk.ask('core', 'GET /users/{userRef}', { path }), 404)
      }
    },
  },
]

/** Calls every GET route that needs a key, with ids of this walk. A route may answer that it found nothing. */
async function readsEverything({ ask, reply, ann, authenticationId }: Walk): Promise<void> {
  const policy = (await reply('dashboard', 'GET /default-policy')).data.id
  const window = {
    date_from: new Date(Date.now() - 7 * 86_400_000).toISOString(),
    date_to: new Date(Date.now() + 3_600_000).toISOString(),
  }
  for (const api of ['core', 'dashboard'] as const)
    for (const row of TABLES[api].filter(({ method, needsKey }) => method === 'get' && needsKey)) {
      const names = parametersOf(row).map(({ name }) => name)
      const query = Object.fromEntries(Object.entries(window).filter(([name]) => names.includes(name)))
      const id = row.path.startsWith('/policies') ? policy : authenticationId
      const path = { ...ann, id, search: 'walk', indicator: 'biometric', signal: 'address', tag: 'app', type: 'events' }
      await ask(api, `GET ${row.path}`, { path, query })
    }
}

function wanted(came: unknown, want: unknown, what: string): void {
  if (JSON.stringify(came) !== JSON.stringify(want))
    throw new Error(`${what}: came ${JSON.stringify(came)}, wanted ${JSON.stringify(want)}`)
}

const refused = ({ status }: WalkAnswer, want: number) => wanted(status, want, 'status')
