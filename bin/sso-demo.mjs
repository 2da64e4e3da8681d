// Single sign-on of the demo, in a process that `npm start` starts: a bridge with one person, its mail server, and an application.
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { SMTPServer } from 'smtp-server'

const PERSON = 'ann'
const { env } = process
const port = Number(env.PORT || 8080)
const [issuer, application] = [`http://localhost:${port + 10}`, `http://localhost:${port + 11}`]
const data = env.KEYSTRIDE_DATA || '.keystride'
const folder = join(data, 'sso-demo')
const secret = randomBytes(24).toString('base64url')

// The demo ends with the service.
process.on('disconnect', () => process.exit())
process.on('uncaughtException', ({ message }) => {
  process.stderr.write(
    `The demo of single sign-on does not run: ${message}. Its ports are ${port + 10} and ${port + 11}, 10 and 11 above PORT.\n`,
  )
  process.exit(1)
})
const { warn } = console
// The warning is known (docs/sso.md), and does not concern a person who tries the demo.
console.warn = (line, ...more) => /oidc-provider WARNING: Unsupported runtime/.test(line) || warn(line, ...more)
await service()
await serveDemo(await mailPort())

/** Ends the process if the service has no demo organization, or no core API at this address because of other roles or another host. */
async function service() {
  if (!existsSync(join(data, 'demo.json'))) process.exit()
  const answers = () =>
    fetch(`http://localhost:${port}/core/status`).then(
      ({ ok }) => ok,
      () => false,
    )
  for (let tries = 0; !(await answers()); tries++) {
    if (tries === 100) process.exit()
    await delay(100)
  }
}

/** Port of a mail server that shows the one-time passwords here. */
async function mailPort() {
  const server = new SMTPServer({
    authOptional: true,
    disableReverseLookup: true,
    disabledCommands: ['AUTH', 'STARTTLS'],
    async onData(stream, _, done) {
      let mail = ''
      for await (const part of stream) mail += part
      const password = /\b(\d{6})\b/.exec(mail.split('\r\n\r\n').slice(1).join())?.[1]
      process.stdout.write(`\nThe mail to ${PERSON} has the one-time password ${password}\n`)
      done()
    },
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  return server.server.address().port
}

async function serveDemo(mail) {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const write = (name, content) => writeFileSync(join(folder, name), content, { mode: 0o600 })
  write('apikey', JSON.parse(readFileSync(join(data, 'demo.json'), 'utf8')).apikey)
  write('people.json', JSON.stringify([{ name: PERSON, email: `${PERSON}@example.com`, displayName: 'Ann' }]))
  const settings = {
    issuer,
    port: port + 10,
    core: { url: `http://localhost:${port}`, apikeyFile: 'apikey' },
    directory: { kind: 'file', path: 'people.json' },
    mail: { host: 'localhost', port: mail, tls: 'none', sender: 'sign-in@example.com' },
    clients: [
      {
        id: 'wiki',
        name: 'The wiki',
        secret,
        redirectUris: [`${application}/callback`],
        postLogoutRedirectUris: [`${application}/`],
      },
    ],
  }
  write('sso.json', JSON.stringify(settings, null, 2))
  Object.assign(env, { ISSUER: issuer, CLIENT_ID: 'wiki', CLIENT_SECRET: secret, PORT: String(port + 11) })
  await import('../examples/single-sign-on/server.mjs')
  const { start } = await import('../build/src/main.js')
  await start({
    ...env,
    PORT: String(port),
    ROLES: 'sso',
    SSO_FILE: join(folder, 'sso.json'),
    ALERT_HOSTS: 'localhost',
    LOG_LEVEL: 'warn',
  })
  process.stdout.write(
    `It is a made-up application with single sign-on. Sign in there as ${PERSON}: the one-time password appears here.\nIts settings: ${join(folder, 'sso.json')}\n`,
  )
}
