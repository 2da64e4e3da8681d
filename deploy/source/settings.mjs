// Where each variable of the service is set, by deployment. `bin/deploy.mjs` refuses a variable without a row and a row without a
// variable, so that a new setting is a decision here.

/** The manifest sets the value; an operator does not change it. */
const fixed = (value) => ({ kind: 'fixed', value })
/** A line of the settings that the operator edits: with a value, or commented out. */
const setting = (value) => ({ kind: 'setting', value })
/** A key of the Secret `keystride`. An optional key may be absent. */
const secret = (key, { optional = false } = {}) => ({ kind: 'secret', key, optional })
/** Not deployed, with the reason. */
const absent = (reason) => ({ kind: 'absent', reason })

const inFile = (name) => absent(`${name} names the file that holds it`)
const both = (place) => ({ systemd: place, kubernetes: place })
const EMBEDDED = 'only the embedded PostgreSQL uses it; this deployment has a DATABASE_URL'

/** Port of the APIs, port of the metrics, and seconds from SIGTERM to the closed port, in Kubernetes. */
export const PORT = 8080
export const METRICS_PORT = 9100
export const STOP_LEAD_S = 10

/** The path of the files that operators add: certificates, address ranges. */
const FILES = '/etc/keystride'

export const PLACES = {
  PORT: { systemd: setting(), kubernetes: fixed(String(PORT)) },
  HOST: { systemd: setting(), kubernetes: fixed('0.0.0.0') },
  PUBLIC_URL: both(setting('https://keystride.example.org')),
  ROLES: { systemd: setting(), kubernetes: fixed(null) },
  DATABASE_URL: both(inFile('DATABASE_URL_FILE')),
  DATABASE_URL_FILE: { systemd: fixed('%d/database-url'), kubernetes: fixed('/secrets/database-url') },
  DATABASE_POOL: both(setting()),
  MIGRATE: both(fixed('off')),
  DATABASE_PREPARE: both(setting()),
  REDIS_URL: { systemd: setting('redis://127.0.0.1:6379'), kubernetes: secret('redis-url') },
  KEYSTRIDE_DATA: both(absent(EMBEDDED)),
  ENCRYPTION_KEY: both(inFile('ENCRYPTION_KEY_FILE')),
  ENCRYPTION_KEY_FILE: { systemd: fixed('%d/encryption-key'), kubernetes: fixed('/secrets/encryption-key') },
  ENCRYPTION_KEY_PREVIOUS: {
    systemd: setting(),
    kubernetes: secret('encryption-key-previous', { optional: true }),
  },
  REPLAY: both(setting()),
  TOUCH_SCREENS: both(setting()),
  TARGET_REF_PATTERNS: both(setting()),
  FULL_REF_PATTERNS: both(setting()),
  ADAPTATION: both(setting()),
  GEOIP_DB: both(setting()),
  ASN_DB: both(setting()),
  ANONYMIZERS: both(setting()),
  CONTEXT_INDICATORS: both(setting()),
  ALERT_HOSTS: both(setting()),
  ALERT_CA: both(setting()),
  SSO_FILE: both(absent('single sign-on has secrets and a port of its own: docs/sso.md')),
  PROCESSES: { systemd: setting(), kubernetes: fixed('1') },
  SCORING: { systemd: setting(), kubernetes: fixed('inline') },
  SCORING_WORKERS: { systemd: setting(), kubernetes: absent('SCORING=inline has no scoring threads') },
  REQUESTS_AT_ONCE: both(setting()),
  QUEUE_MS: both(setting()),
  STORE_PATIENCE: both(setting()),
  KEY_RATE: both(setting()),
  KEY_BURST: both(setting()),
  PROFILE_CACHE_MB: both(setting()),
  STOP_LEAD_S: { systemd: setting(), kubernetes: fixed(String(STOP_LEAD_S)) },
  READY_NEEDS_STORES: both(setting()),
  DEMO: both(setting()),
  METRICS_PORT: { systemd: setting(String(METRICS_PORT)), kubernetes: fixed(String(METRICS_PORT)) },
  METRICS_HOST: { systemd: setting(), kubernetes: absent('unset: the address of HOST') },
  TRACES_ENDPOINT: both(setting()),
  TRACES_RATIO: both(setting()),
  LOG_LEVEL: both(setting()),
  LOG_FORMAT: { systemd: setting(), kubernetes: fixed('json') },
  HTTP_SERVER: both(setting()),
}

/** Examples that the comments of the settings show. */
export const EXAMPLES = {
  GEOIP_DB: `${FILES}/GeoLite2-City.mmdb`,
  ASN_DB: `${FILES}/GeoLite2-ASN.mmdb`,
  ANONYMIZERS: `${FILES}/anonymizers.txt`,
  ALERT_CA: `${FILES}/alert-ca.pem`,
  TRACES_ENDPOINT: 'http://localhost:4318',
}

/**
 * Throws unless the rows are exactly the variables of the service.
 * @param {{ name: string }[]} table the configuration table of the service
 */
export function requirePlaces(table) {
  const names = table.map(({ name }) => name)
  const missing = names.filter((name) => !(name in PLACES))
  const foreign = Object.keys(PLACES).filter((name) => !names.includes(name))
  if (missing.length > 0)
    throw new Error(`deploy/source/settings.mjs has no row for ${missing.join(', ')}: add where it is set, or why not`)
  if (foreign.length > 0)
    throw new Error(`deploy/source/settings.mjs has a row for ${foreign.join(', ')}, which the service does not read`)
}

/**
 * The rows of one deployment and one kind, in the order of the configuration table.
 * @param {'systemd' | 'kubernetes'} deployment
 * @param {'fixed' | 'setting' | 'secret' | 'absent'} kind
 */
export const placed = (deployment, kind) =>
  Object.entries(PLACES)
    .map(([name, places]) => ({ name, ...places[deployment] }))
    .filter((place) => place.kind === kind)
