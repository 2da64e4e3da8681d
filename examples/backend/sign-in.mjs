// Sign-in by typing: pages, sessions, and the call of the service.
import { randomUUID } from 'node:crypto'
import { createKeystride } from '@keystride/client'

const keystride = createKeystride({
  url: process.env.KEYSTRIDE_URL ?? 'http://localhost:8080',
  apikey: process.env.KEYSTRIDE_KEY ?? '',
})
/** By cookie: who signs in, and the last result. In memory, for an example. */
const sessions = new Map()
export const POLICY = "default-src 'none'; script-src 'self'; form-action 'self'"

/** The content of the page for each result of `signIn`. */
const views = {
  start: () => form('start', '<label>Your e-mail <input name="user" required autofocus></label><button>Go on</button>'),
  type: ({ words, codeOpen }) => `<p>Type these words to sign in.</p>${typing(words)}${codeOpen ? code() : ''}`,
  enroll: ({ words, done, target }) => `<p>You enroll.</p>${typing(words, `done="${done}" target="${target}"`)}`,
  later: ({ until }) => `<p>Thank you, that is all for now. Please come back after ${until}.</p>${restart}`,
  'code-needed': () => code(),
  'choose-member': () => form('sign-in', '<label>Your name <input name="member"></label><button>Go on</button>'),
  authenticated: ({ userRef }) => `<p>Signed in as <b translate="no">${escaped(userRef)}</b>.</p>${restart}`,
  challenged: ({ by, next }) =>
    by === 'typing' ? `<p>Not certain.</p>${nextStep(next)}` : '<p>The code is right. Ask for one more factor.</p>',
  blocked: ({ reason, next }) => `<p>Not recognized. ${SAYINGS[reason] ?? ''}</p>${nextStep(next)}`,
  'start-over': () => `<p>That was the last try.</p>${restart}`,
  locked: ({ until }) => `<p>Locked until ${until ?? 'an administrator unlocks you'}.</p>${restart}`,
}
const SAYINGS = {
  'invalid-data': 'Type the words as they are shown.',
  'fraud-detected': 'That was typed before.',
  'detection-bot': 'That looked like a machine.',
}
export const page = (result) => `<!doctype html><html lang="en"><title>Sign in</title><h1>Sign in</h1>
${result.again ? `<p role="status">${SAYINGS[result.again] ?? ''} Once more, please.</p>` : ''}${views[result.kind](result)}`
const form = (path, content) => `<form method="post" action="/${path}">${content}</form>`
const typing = ({ suggestedWords, suggestedWordsLanguage }, more = '') => `<form method="post" action="/sign-in">
<keystride-typing name="pattern" words="${escaped(suggestedWords.join(' '))}" words-lang="${suggestedWordsLanguage}"
required autofocus ${more}><button>Go on</button></keystride-typing></form><script type="module" src="/keystride/element.js"></script>`
const code = () => form('sign-in', '<label>Security code <input name="code"></label><button>Use the code</button>')
const restart = form('restart', '<button>Start again</button>')
const nextStep = (next) =>
  next.mode === 'type' ? typing(next.words) : next.mode === 'code' ? code() : views[next.mode](next)
const escaped = (text) => text.replace(/[&<>"]/g, (one) => `&#${one.charCodeAt(0)};`)

/** The session of the cookie, or a new one. */
export function sessionOf(request, response) {
  const id = /\bid=([\w-]{36})/.exec(request.headers.cookie ?? '')?.[1] ?? ''
  if (sessions.has(id)) return sessions.get(id)
  const [made, session] = [randomUUID(), { result: { kind: 'start' } }]
  sessions.set(made, session)
  response.setHeader('set-cookie', `id=${made}; HttpOnly; SameSite=Strict; Path=/`)
  return session
}

/** Does what a form of the page asks for. */
export async function act(session, path, { user, pattern, code, member }, ip) {
  // Check the password of the user here, as before: the first person to type under a name owns it.
  if (path !== '/sign-in') Object.assign(session, { userRef: user, result: { kind: 'start' } })
  // A login is complete once: later forms of the page must not change it.
  if (path === '/restart' || session.result.kind === 'authenticated') return
  session.result = await keystride.signIn({
    userRef: session.userRef,
    ip,
    pattern: path === '/start' || code || member ? undefined : (pattern ?? ''),
    securityCode: code,
    memberRef: member,
    state: session.result.state,
  })
}
