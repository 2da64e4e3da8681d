#!/usr/bin/env node
// docker-compose.yml runs both steps before each start of the service: `secrets` creates the passwords and keys that are not
// given, `organization` the first organization with its API key. Both are idempotent.
import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const [step = '', folder = '/secrets'] = process.argv.slice(2)
const at = (name) => join(folder, name)

/** Writes a file unless it exists: data that is encrypted with an overwritten key would be unreadable. */
function keep(name, value, mode) {
  if (!existsSync(at(name))) writeFileSync(at(name), value, { mode, flag: 'wx' })
  return readFileSync(at(name), 'utf8')
}

const given = (name, otherwise) => process.env[name] || otherwise

if (step === 'secrets') {
  // Readable by the group: the database runs as another user of the group.
  const password = keep('postgres-password', given('POSTGRES_PASSWORD', randomBytes(24).toString('hex')), 0o440)
  keep('database-url', `postgres://keystride:${encodeURIComponent(password)}@postgres:5432/keystride`, 0o400)
  keep('encryption-key', given('ENCRYPTION_KEY', randomBytes(32).toString('base64')), 0o400)
} else if (step === 'organization') {
  const { firstOrganization } = await import('../build/src/wiring/first-organization.js')
  const { administerFrom } = await import('../build/src/cli/administer.js')
  await administerFrom(process.env)(async ({ flows }) => {
    const file = at('api-key')
    const name = given('ORGANIZATION', 'My organization')
    const made = await firstOrganization(flows, { name, label: 'first', file, content: (apikey) => `${apikey}\n` })
    if (made !== null)
      process.stdout.write(`Organization ${made.id} created. Its API key, stored in ${file}:\n\n  ${made.apikey}\n`)
  })
} else {
  process.stderr.write('usage: first-start.mjs secrets|organization [folder]\n')
  process.exit(2)
}
