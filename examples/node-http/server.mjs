// Sign-in by typing on node:http. Start: KEYSTRIDE_KEY=... node server.mjs
import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { createKeystride } from '@keystride/client'

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

/** What a form has sent. */
async function formOf(request) {
  const parts = []
  for await (const part of request) parts.push(part)
  return new URLSearchParams(Buffer.concat(parts).toString())
}

/** The session of the cookie, or a new one. */
function sessionOf(request, response) {
  const id = /\bid=([\w-]{36})/.exec(request.headers.cookie ?? '')?.[1] ?? ''
  if (sessions.has(id)) return sessions.get(id)
  const [made, session] = [randomUUID(), { userRef: '', result: { kind: 'start' } }]
  sessions.set(made, session)
  response.setHeader('set-cookie', `id=${made}; HttpOnly; SameSite=Strict; Path=/`)
  return session
}

async function answer(request, response) {
  const path = request.url ?? ''
  response.setHeader('content-security-policy', POLICY)
  if (/^\/keystride\/(texts\/\w+|element)\.js$/.test(path)) {
    const file = new URL(path.slice('/keystride/'.length), import.meta.resolve('@keystride/recorder/element'))
    return response.setHeader('content-type', 'text/javascript; charset=utf-8').end(await readFile(file))
  }
  const session = sessionOf(request, response)
  if (request.method === 'POST') {
    const form = await formOf(request)
    // Check the password of the user here, as before: the first person to type under a name owns it.
    if (path === '/start') Object.assign(session, { userRef: form.get('user'), result: { kind: 'start' } })
    session.result = await keystride.signIn({
      userRef: session.userRef,
      ip: request.socket.remoteAddress, // behind a proxy: the address that the proxy names
      pattern: form.get('pattern') ?? undefined,
      securityCode: form.get('code') ?? undefined,
      memberRef: form.get('member') ?? undefined,
      state: session.result.state,
    })
    return response.writeHead(303, { location: '/' }).end()
  }
  response.setHeader('content-type', 'text/html; charset=utf-8').end(page(session.result))
}

createServer((request, response) => {
  answer(request, response).catch((error) => response.writeHead(503).end(`Try again: ${error.message}`))
}).listen(process.env.PORT ?? 3000, () => console.log(`http://localhost:${process.env.PORT ?? 3000}`))
