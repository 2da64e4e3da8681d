// Sign-in by typing with Express. Start: KEYSTRIDE_KEY=... node express.mjs
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import express from 'express'
import { act, POLICY, page, sessionOf } from './sign-in.mjs'

const app = express()
app.use('/keystride', express.static(dirname(fileURLToPath(import.meta.resolve('@keystride/recorder/element')))))
app.use(express.urlencoded({ extended: false, limit: '1mb' }))
app.get('/', (request, response) =>
  response.set('content-security-policy', POLICY).send(page(sessionOf(request, response).result)),
)
app.post(['/start', '/restart', '/sign-in'], async (request, response) => {
  // Behind a proxy: set `trust proxy`.
  await act(sessionOf(request, response), request.path, request.body ?? {}, request.ip)
  response.redirect(303, '/')
})
app.use((error, _request, response, _next) => {
  console.error(error)
  response.status(503).send('Signing in does not work right now. Please try again.')
})
const port = process.env.PORT ?? 3000
app.listen(port, () => console.log(`http://localhost:${port}`))
