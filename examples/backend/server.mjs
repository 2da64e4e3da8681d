// Sign-in by typing on node:http. Start: KEYSTRIDE_KEY=... node server.mjs
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { act, POLICY, page, sessionOf } from './sign-in.mjs'

async function answer(request, response) {
  const path = request.url ?? ''
  response.setHeader('content-security-policy', POLICY)
  if (/^\/keystride\/(texts\/\w+|element)\.js$/.test(path)) {
    const file = new URL(path.slice('/keystride/'.length), import.meta.resolve('@keystride/recorder/element'))
    return response.setHeader('content-type', 'text/javascript; charset=utf-8').end(await readFile(file))
  }
  const session = sessionOf(request, response)
  if (request.method === 'POST') {
    const sent = new URLSearchParams(await text(request))
    // Behind a proxy: the address that the proxy names.
    await act(session, path, Object.fromEntries(sent), request.socket.remoteAddress)
    return response.writeHead(303, { location: '/' }).end()
  }
  response.setHeader('content-type', 'text/html; charset=utf-8').end(page(session.result))
}

createServer((request, response) => {
  answer(request, response).catch((error) => {
    console.error(error)
    response.writeHead(503).end('Signing in does not work right now. Please try again.')
  })
}).listen(process.env.PORT ?? 3000, () => console.log(`http://localhost:${process.env.PORT ?? 3000}`))
