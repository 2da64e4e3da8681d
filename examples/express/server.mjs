// Sign-in by typing with Express. Start: KEYSTRIDE_KEY=... node server.mjs
import { randomUUID } from 'node:crypto'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createKeystride } from '@keystride/client'
import express from 'express'

const keystride = createKeystride({
  url: process.env.KEYSTRIDE_URL ?? 'http://localhost:8080',
  apikey: process.env.KEYSTRIDE_KEY ?? '',
})
/** By cookie: who signs in, and the last result. In memory, for an example. */
const sessions = new Map()
const POLICY = "default-src 'none'; script-src 'self'; form-action 'self'"

/** The content of the page for each result of `signIn`. */
const views = {
  start: () =>
    '<form method="post" action="/start"><label>Your e-mail <input name="user" required></label><button>Go on</button></form>',
  type: ({ words, codeOpen }) => typing(words, 'required') + (codeOpen ? code() : ''),
  enroll: ({ words, done, target }) => typing(words, `required done="${done}" target="${target}"`),
  'code-needed': () => code(),
  'choose-member': () =>
    '<form method="post" action="/sign-in"><label>Who are you? <input name="member" required></label><button>Go on</button></form>',
  authenticated: ({ userRef }) => `<p>Signed in as ${escaped(userRef)}.</p>`,
  challenged: ({ by, next }) =>
    by === 'security_code'
      ? '<p>The code is right. Ask for one more factor here.</p>'
      : `<p>Not certain.</p>${nextStep(next)}`,
  blocked: ({ reason, next }) => `<p>Not recognized. ${escaped(reason)}</p>${nextStep(next)}`,
  locked: ({ until }) => `<p>Locked until ${until ?? 'an administrator unlocks you'}.</p>`,
}
const page = (result) => `<!doctype html><html lang="en"><title>Sign in</title><h1>Sign in</h1>
${result.again ? `<p role="status">Once more, please: ${result.again}.</p>` : ''}${views[result.kind](result)}`
const typing = ({ suggestedWords, suggestedWordsLanguage }, more) => `<form method="post" action="/sign-in">
<keystride-typing name="pattern" words="${escaped(suggestedWords.join(' '))}" words-lang="${suggestedWordsLanguage}" ${more}>
<button>Go on</button></keystride-typing></form><script type="module" src="/keystride/element.js"></script>`
const code = () =>
  '<form method="post" action="/sign-in"><label>Security code <input name="code"></label><button>Use the code</button></form>'
const nextStep = (next) =>
  next.mode === 'locked' ? views.locked(next) : next.mode === 'code' ? code() : typing(next.words, 'required')
const escaped = (text) => text.replace(/[&<>"]/g, (one) => `&#${one.charCodeAt(0)};`)

const app = express()
app.use('/keystride', express.static(dirname(fileURLToPath(import.meta.resolve('@keystride/recorder/element')))))
app.use(express.urlencoded({ extended: false, limit: '1mb' }))
app.use((request, response, next) => {
  let id = /\bid=([\w-]{36})/.exec(request.headers.cookie ?? '')?.[1] ?? ''
  if (!sessions.has(id)) {
    id = randomUUID()
    sessions.set(id, { userRef: '', result: { kind: 'start' } })
    response.cookie('id', id, { httpOnly: true, sameSite: 'strict' })
  }
  request.session = sessions.get(id)
  next()
})

app.get('/', ({ session }, response) => response.set('content-security-policy', POLICY).send(page(session.result)))

app.post(['/start', '/sign-in'], async ({ path, session, body, ip }, response) => {
  // Check the password of the user here, as before: the first person to type under a name owns it.
  if (path === '/start') Object.assign(session, { userRef: body.user, result: { kind: 'start' } })
  session.result = await keystride.signIn({
    userRef: session.userRef,
    ip, // behind a proxy: set `trust proxy`
    pattern: body.pattern,
    securityCode: body.code,
    memberRef: body.member,
    state: session.result.state,
  })
  response.redirect(303, '/')
})

app.use((error, _request, response, _next) => response.status(503).send(`Try again: ${error.message}`))
const port = process.env.PORT ?? 3000
app.listen(port, () => console.log(`http://localhost:${port}`))
