#!/usr/bin/env node
// Writes the settings that operators copy, each under its meaning: deploy/systemd/keystride.env for the units and .env.example for
// docker-compose.yml. `--check` writes nothing and names each file that differs. `--out` is the folder, by default the repository.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { prepare } from './prepare.mjs'

prepare()
const { configTable } = await import('../build/src/process/config.js')

const root = fileURLToPath(new URL('..', import.meta.url))
const { values } = parseArgs({ options: { check: { type: 'boolean' }, out: { type: 'string', default: root } } })

/** Values for a service of systemd. All other settings are comments. */
const VALUES = {
  PUBLIC_URL: 'https://keystride.example.org',
  REDIS_URL: 'redis://127.0.0.1:6379',
  METRICS_PORT: '9100',
}
const EXAMPLES = {
  GEOIP_DB: '/etc/keystride/GeoLite2-City.mmdb',
  ASN_DB: '/etc/keystride/GeoLite2-ASN.mmdb',
  ANONYMIZERS: '/etc/keystride/anonymizers.txt',
  ALERT_CA: '/etc/keystride/alert-ca.pem',
  TRACES_ENDPOINT: 'http://localhost:4318',
}
/** Settings that a unit must not have: it sets three itself, reads secrets from files, and runs no embedded PostgreSQL and no single sign-on. */
const NOT_FOR_UNITS = [
  ...['DATABASE_URL_FILE', 'MIGRATE', 'ENCRYPTION_KEY_FILE', 'DATABASE_URL', 'DATABASE_URLS', 'ENCRYPTION_KEY'],
  ...['KEYSTRIDE_DATA', 'SSO_FILE'],
]

const settingsOfUnits = () =>
  `# Settings of keystride.service: /etc/keystride/keystride.env, owned by root, mode 0600. A line that begins with # is not set.
# The units set DATABASE_URL_FILE, MIGRATE, ENCRYPTION_KEY_FILE.
${configTable()
  .filter(({ name }) => !NOT_FOR_UNITS.includes(name))
  .map(({ name, fallback, meaning }) => {
    const line = name in VALUES ? `${name}=${VALUES[name]}` : `#${name}=${EXAMPLES[name] ?? fallback}`
    return `# ${meaning}\n${line}\n`
  })
  .join('')}`

const settingsOfCompose =
  () => `# Settings for docker-compose.yml: copy this file to .env, remove the # of a line and set its value. No line is required:
# \`docker compose up\` creates the secrets.

# Settings of docker-compose.yml alone, used at the first start:
# password of the PostgreSQL that it brings, letters and digits
#POSTGRES_PASSWORD=
# name of the first organization
#ORGANIZATION=My organization

# Settings of the service. docker-compose.yml sets HOST, PORT, METRICS_PORT, REDIS_URL and the two files.
${configTable()
  .map(({ name, fallback, meaning }) => `# ${meaning}\n#${name}=${fallback}\n`)
  .join('')}`

for (const [name, text] of [
  ['deploy/systemd/keystride.env', settingsOfUnits()],
  ['.env.example', settingsOfCompose()],
]) {
  const file = join(values.out, name)
  if (!values.check) {
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
  } else if (!existsSync(file) || readFileSync(file, 'utf8') !== text) {
    process.stderr.write(`${name} differs: run node bin/deploy.mjs\n`)
    process.exitCode = 1
  }
}
