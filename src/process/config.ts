import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { z } from 'zod'
import { check, fieldPath } from '../base/validation.js'
import { ADAPTIVE_MAX } from '../domain/adaptation.js'
import { type HostList, hostList } from '../domain/alert-host.js'
import { DEFAULT_TARGETS, type ProfileTargets } from '../domain/biometric-status.js'
import { CONTEXT_INDICATORS, type ContextIndicator } from '../domain/context/signal.js'
import { burstOf, type KeyRate, NO_RATE } from '../domain/key-rate.js'
import { HTTP_SERVERS, type HttpServerChoice } from '../http/provider.js'
import { LOG_FORMATS, LOG_LEVELS, type LogFormat, type LogLevel } from './log.js'

const PROCESSES_MAX = 64
const ROLES = ['core', 'links', 'dashboard', 'jobs', 'sso'] as const
type Role = (typeof ROLES)[number]
/** Single sign-on needs a settings file, so a process has that role by request only. */
const DEFAULT_ROLES: readonly Role[] = ['core', 'links', 'dashboard', 'jobs']

const port = z.coerce.number().int().min(0).max(65_535)
const count = (min: number, max: number) => z.coerce.number().int().min(min).max(max)
const listOf = <T extends string>(values: readonly [T, ...T[]]) =>
  z
    .string()
    .transform((text) => text.split(',').map((part) => part.trim()))
    .pipe(z.array(z.enum(values)).min(1))

/** An address in libpq's form, of one server or of several separated by commas. */
const databaseUrl = z
  .string()
  .regex(/^postgres(ql)?:\/\//, 'must begin with postgres:// or postgresql://')
  .refine((text) => {
    const [, scheme = '', user = '', hosts = '', rest = ''] = /^(\w+:\/\/)(.*@)?([^@/?#]*)(.*)$/.exec(text) ?? []
    return hosts.split(',').every((host) => host !== '' && URL.canParse(scheme + user + host + rest))
  }, 'must be postgres://user:password@host:port/name, or several host:port separated by commas')

/** `name=url` pairs, separated by white space. */
const named = (url: z.ZodType<string, string>) =>
  z
    .string()
    .transform((text) => text.trim().split(/\s+/))
    .pipe(
      z.array(
        z.string().transform((pair, context) => {
          const [, name = '', rest = ''] = /^([a-z][a-z0-9-]{0,30})=(.+)$/.exec(pair) ?? []
          const parsed = url.safeParse(rest)
          if (name !== '' && parsed.success) return { name, url: parsed.data }
          const why =
            name === ''
              ? 'must be name=url, with a name of a-z, 0-9 and -'
              : `${name}: ${parsed.error?.issues[0]?.message}`
          context.addIssue({ code: 'custom', message: why })
          return z.NEVER
        }),
      ),
    )

const redisUrl = z.string().regex(/^rediss?:\/\//, 'must begin with redis:// or rediss://')

const encryptionKey = z.string().regex(/^[A-Za-z0-9+/_-]{43}=?$/, 'must be 32 bytes in base64')

const file = z.string().min(1).optional()

const hosts = z.string().transform((text, context): HostList => {
  const entries = text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
  const list = hostList(entries)
  if (!('unreadable' in list)) return list
  const place = entries.indexOf(list.unreadable) + 1
  context.addIssue({
    code: 'custom',
    message: `entry ${place} is not a host name, *.domain, address or range of addresses`,
  })
  return z.NEVER
})

/** The kernel compares with 16 references, adaptive ones included. */
const FULL_REF_PATTERNS_MAX = 16 - ADAPTIVE_MAX

/** The environment variables of a process. A test compares them with the tables of README and docs/operations.md. */
const Environment = z.object({
  PORT: port.default(8080).describe('Port of the APIs.'),
  HOST: z.string().min(1).default('127.0.0.1').describe('Address that the service listens on.'),
  PUBLIC_URL: z
    .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
    .optional()
    .describe('URL at which clients reach the service, for absolute links. Unset, it is http://localhost:PORT.'),
  ROLES: listOf(ROLES)
    .optional()
    .describe(
      'Roles of this process, comma-separated: core, links, dashboard, jobs, sso. The role sso needs SSO_FILE. Unset, it has all but sso.',
    ),
  DATABASE_URL: databaseUrl
    .optional()
    .describe(
      'PostgreSQL 14 or newer. A standby is another host:port after a comma. Unset, the service runs an embedded PostgreSQL under KEYSTRIDE_DATA.',
    ),
  DATABASE_URL_FILE: file.describe(
    'File that holds DATABASE_URL, such as a mounted secret. It is read if DATABASE_URL is unset.',
  ),
  DATABASE_URLS: named(databaseUrl)
    .optional()
    .describe(
      'Further PostgreSQL databases, as name=url separated by spaces. Each organization is in one database (docs/scaling.md). Unset, all are in DATABASE_URL, which is named main.',
    ),
  DATABASE_URLS_FILE: file.describe(
    'File that holds DATABASE_URLS, such as a mounted secret. It is read if DATABASE_URLS is unset.',
  ),
  DATABASE_POOL: count(2, 200)
    .default(10)
    .describe(
      'Most connections of a process to PostgreSQL, one of them for health checks. A running export opens one more.',
    ),
  MIGRATE: z
    .enum(['on', 'off'])
    .default('on')
    .describe(
      'Whether the start migrates the database. With off, a start at an older schema fails, and `keystride migrate` is a separate step.',
    ),
  REDIS_URL: redisUrl
    .optional()
    .describe(
      'Redis 7 or newer: one node, or a Redis Cluster as several nodes, comma-separated, or as one with ?cluster=true. Unset, sessions live in PostgreSQL.',
    ),
  REDIS_URLS: named(redisUrl)
    .optional()
    .describe('Redis of single databases, as name=url separated by spaces. The others use REDIS_URL.'),
  KEYSTRIDE_DATA: z
    .string()
    .min(1)
    .default('.keystride')
    .describe('Folder of the embedded PostgreSQL, its encryption.key and demo.json.'),
  ENCRYPTION_KEY: encryptionKey
    .optional()
    .describe("32 bytes in base64 that wrap the organizations' data keys. Required with DATABASE_URL."),
  ENCRYPTION_KEY_FILE: file.describe('File that holds ENCRYPTION_KEY. It is read if ENCRYPTION_KEY is unset.'),
  ENCRYPTION_KEY_PREVIOUS: z
    .string()
    .transform((text) => text.split(',').map((part) => part.trim()))
    .pipe(z.array(encryptionKey))
    .optional()
    .describe('Previous keys that still open data keys during a rotation (`keystride key rotate`), comma-separated.'),
  REPLAY: z
    .enum(['reject', 'flag'])
    .default('reject')
    .describe('Whether a replayed typing pattern is rejected or only flagged.'),
  TOUCH_SCREENS: z
    .enum(['refuse', 'accept'])
    .default('refuse')
    .describe(
      'Whether patterns from phones and tablets are refused (422). The model was fitted on keyboards: of passwords on a touch screen, 2.8 to 4.2 % of the impostors pass and 12 to 50 % of the owners do not.',
    ),
  TARGET_REF_PATTERNS: count(3, 10)
    .default(DEFAULT_TARGETS.targetRefPatterns)
    .describe('Reference patterns that complete a profile, 3 to 10.'),
  FULL_REF_PATTERNS: count(3, FULL_REF_PATTERNS_MAX)
    .default(DEFAULT_TARGETS.fullRefPatterns)
    .describe(`Reference patterns that fill a profile, from TARGET_REF_PATTERNS to ${FULL_REF_PATTERNS_MAX}.`),
  ADAPTATION: z
    .enum(['on', 'off'])
    .default('on')
    .describe('Whether profiles learn from clean sign-ins. With off, learned references are ignored too.'),
  GEOIP_DB: file.describe(
    'MMDB file with locations, of a type City or Enterprise such as GeoLite2-City. Unset, location signals are null.',
  ),
  ASN_DB: file.describe(
    'MMDB file with networks, of a type ASN such as GeoLite2-ASN. Unset, the network operator is null.',
  ),
  ANONYMIZERS: file.describe(
    'File with address ranges of anonymizers, one per line. Unset, the anonymizer signal is null.',
  ),
  CONTEXT_INDICATORS: listOf(CONTEXT_INDICATORS)
    .optional()
    .describe(
      `Context indicators that may count, comma-separated: ${CONTEXT_INDICATORS.join(', ')}. Unset, all may count.`,
    ),
  ALERT_HOSTS: hosts
    .optional()
    .describe(
      'Hosts that alerts and the mails of single sign-on may be sent to, comma-separated: host names, *.domains, addresses, ranges. Unset, nothing is sent.',
    ),
  ALERT_CA: file.describe('PEM file of certificates that alert channels trust in addition to the well-known ones.'),
  SSO_FILE: file.describe('JSON file with the settings of single sign-on (docs/sso.md).'),
  PROCESSES: count(1, PROCESSES_MAX)
    .optional()
    .describe('Processes that serve on one port. Unset, one per core that the service may use, at most 64.'),
  SCORING: z
    .enum(['pool', 'inline'])
    .default('pool')
    .describe(
      "Where patterns are scored: on worker threads (pool) or on the serving thread (inline). A pool has a process's share of the cores minus one, at least one thread.",
    ),
  REQUESTS_AT_ONCE: count(4, 10_000)
    .default(64)
    .describe('Concurrent requests of a process. Others wait, by priority.'),
  QUEUE_MS: count(10, 60_000)
    .default(1000)
    .describe('Expected wait, in ms, above which a verify gets 503 at once. Other calls get a part of it.'),
  STORE_PATIENCE: count(1, 10)
    .default(1)
    .describe(
      'Factor of the limits after which a call is refused because PostgreSQL or Redis is late. A machine that stands still now and then needs more.',
    ),
  KEY_RATE: count(0, 1_000_000)
    .default(NO_RATE)
    .describe(
      'Requests a second of one API key over all processes, or without Redis of each machine. Two seconds of it may come at once; the rest get 429. 0 sets no limit.',
    ),
  PROFILE_CACHE_MB: count(1, 65_536)
    .default(12)
    .describe(
      'Cache of each process, in MB. With Redis it holds people who type again after a failed attempt or in the same session; without Redis, all who typed recently. 100 MB hold about 4,000 people with 48 known patterns each.',
    ),
  STOP_LEAD_S: count(0, 60)
    .default(0)
    .describe(
      'Seconds that a stopping process still serves while /readyz answers 503, so that a load balancer can switch first.',
    ),
  READY_NEEDS_STORES: z
    .enum(['on', 'off'])
    .default('off')
    .describe(
      'Whether /readyz answers 503 while PostgreSQL or Redis is unreachable. With off, clients get the 503 of the API.',
    ),
  DEMO: z
    .enum(['on', 'off', 'month'])
    .default('off')
    .describe(
      'With on, the console offers to fill the organization with made-up people, as it always does with the embedded PostgreSQL. With month, the first start also fills the new demo organization of the embedded PostgreSQL, as npm start does.',
    ),
  METRICS_PORT: count(1, 65_535)
    .optional()
    .describe('Separate port for /metrics and the probes. Unset, /metrics is served on PORT.'),
  TRACES_ENDPOINT: z
    .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
    .optional()
    .describe(
      'OTLP/HTTP collector that gets OpenTelemetry traces, such as http://localhost:4318. Unset, there are no traces.',
    ),
  TRACES_RATIO: z.coerce
    .number()
    .min(0)
    .max(1)
    .default(1)
    .describe(
      "Share of the requests that are traced, 0 to 1. A request with a trace of its caller follows the caller's decision.",
    ),
  LOG_LEVEL: z.enum(LOG_LEVELS).default('info').describe('Lowest level to log.'),
  LOG_FORMAT: z.enum(LOG_FORMATS).default('auto').describe('json, text, or auto: text on a terminal, JSON elsewhere.'),
  HTTP_SERVER: z
    .enum(HTTP_SERVERS)
    .default('auto')
    .describe(
      'HTTP server: uWebSockets.js (uws), the slower one of Node.js (node), or uws where its binary loads, else node (auto).',
    ),
})

export interface Config {
  readonly port: number
  readonly host: string
  readonly publicUrl: string
  readonly roles: readonly Role[]
  /** The first database; null for the embedded PostgreSQL. */
  readonly databaseUrl: string | null
  readonly redisUrl: string | null
  /** Every database, the first one first. */
  readonly databases: readonly DatabaseSettings[]
  readonly databasePool: number
  readonly migrate: boolean
  /** File with the settings of single sign-on; null if none. */
  readonly ssoFile: string | null
  readonly dataFolder: string
  /** Null with the embedded PostgreSQL, which keeps its own keys in `dataFolder`. */
  readonly encryptionKey: Uint8Array | null
  readonly encryptionKeysPrevious: readonly Uint8Array[]
  readonly replay: 'reject' | 'flag'
  readonly touchScreens: 'refuse' | 'accept'
  readonly targets: ProfileTargets
  readonly adaptation: boolean
  readonly processes: number
  readonly scoring: 'pool' | 'inline'
  readonly geography: {
    readonly places: string | null
    readonly networks: string | null
    readonly anonymizers: string | null
  }
  readonly contextIndicators: readonly ContextIndicator[]
  readonly alertHosts: HostList
  readonly alertCaFile: string | null
  readonly requestsAtOnce: number
  readonly queueMs: number
  readonly storePatience: number
  readonly keyRate: KeyRate
  readonly profileCacheBytes: number
  readonly stopLeadMs: number
  readonly readyNeedsStores: boolean
  /** Offers made-up people on any database; the embedded one is always for trials. */
  readonly demo: boolean
  /** A new demo organization is filled with a made-up month. */
  readonly demoMonth: boolean
  /** The separate address of /metrics; null if it is served with the APIs. */
  readonly metricsAt: { readonly host: string; readonly port: number } | null
  /** OpenTelemetry traces; null if none. */
  readonly traces: { readonly endpoint: string; readonly ratio: number } | null
  readonly logLevel: LogLevel
  readonly logFormat: LogFormat
  readonly httpServer: HttpServerChoice
}

/** A database by its settings. */
export interface DatabaseSettings {
  /** `main`, or the name in DATABASE_URLS. */
  readonly name: string
  /** The variable that names it. */
  readonly setting: string
  /** Null for the embedded PostgreSQL. */
  readonly url: string | null
  /** Whether statements stay prepared, as `?prepare=` of its URL says; null if the absence of a pooler decides. */
  readonly prepare: boolean | null
  readonly redisUrl: string | null
}

/** One line for each invalid variable: the expected form, never the value. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  constructor(readonly problems: readonly string[]) {
    super(`configuration cannot be used:\n${problems.map((problem) => `  ${problem}`).join('\n')}`)
  }
}

/** Reads and checks the environment. Throws `ConfigError`, which names every invalid variable. Empty counts as unset. */
export function readConfig(env: NodeJS.ProcessEnv): Config {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ''))
  const problems = readSecretFiles(given)
  const parsed = check(Environment, given)
  if (!parsed.ok) problems.push(...parsed.problems.map(({ path, message }) => `${fieldPath(path)}: ${message}`))
  problems.push(...conflictsOf(given, parsed.ok ? parsed.data : null))
  if (!parsed.ok || problems.length > 0) throw new ConfigError(problems)
  return configOf(parsed.data)
}

type Settings = z.output<typeof Environment>

/** Variables that contradict or require one another. `settings` is null if a variable is invalid by itself. */
function conflictsOf(given: Readonly<Record<string, string | undefined>>, settings: Settings | null): string[] {
  const problems: string[] = []
  if (given.DATABASE_URL !== undefined && given.ENCRYPTION_KEY === undefined) {
    problems.push('ENCRYPTION_KEY: required with DATABASE_URL; make one with: openssl rand -base64 32')
  }
  if (given.ENCRYPTION_KEY_PREVIOUS !== undefined && given.ENCRYPTION_KEY === undefined) {
    problems.push('ENCRYPTION_KEY_PREVIOUS: requires the present key in ENCRYPTION_KEY')
  }
  const names = (settings?.DATABASE_URLS ?? []).map(({ name }) => name)
  if (names.length > 0 && given.DATABASE_URL === undefined) problems.push('DATABASE_URLS: requires DATABASE_URL')
  if (new Set([FIRST, ...names]).size <= names.length)
    problems.push(`DATABASE_URLS: a name occurs twice (DATABASE_URL is named ${FIRST})`)
  const without = (settings?.REDIS_URLS ?? []).find(({ name }) => name !== FIRST && !names.includes(name))
  if (without !== undefined) problems.push(`REDIS_URLS: there is no database ${without.name}`)
  if (settings?.REDIS_URLS !== undefined && settings.REDIS_URL === undefined)
    problems.push('REDIS_URLS: requires REDIS_URL')
  if (settings !== null && settings.FULL_REF_PATTERNS < settings.TARGET_REF_PATTERNS) {
    problems.push('FULL_REF_PATTERNS: must be TARGET_REF_PATTERNS or more')
  }
  if (settings?.ROLES?.includes('sso') === true && settings.SSO_FILE === undefined) {
    problems.push('SSO_FILE: required with the role sso')
  }
  if (settings !== null && settings.METRICS_PORT === settings.PORT) {
    problems.push('METRICS_PORT: must be another port than PORT')
  }
  return problems
}

function configOf(settings: Settings): Config {
  return {
    port: settings.PORT,
    host: settings.HOST,
    publicUrl: (settings.PUBLIC_URL ?? `http://localhost:${settings.PORT}`).replace(/\/+$/, ''),
    roles: settings.ROLES ?? DEFAULT_ROLES,
    ssoFile: settings.SSO_FILE ?? null,
    databaseUrl: settings.DATABASE_URL ?? null,
    databasePool: settings.DATABASE_POOL,
    migrate: settings.MIGRATE === 'on',
    redisUrl: settings.REDIS_URL ?? null,
    databases: databasesOf(settings),
    dataFolder: settings.KEYSTRIDE_DATA,
    encryptionKey: settings.ENCRYPTION_KEY === undefined ? null : Buffer.from(settings.ENCRYPTION_KEY, 'base64'),
    encryptionKeysPrevious: (settings.ENCRYPTION_KEY_PREVIOUS ?? []).map((key) => Buffer.from(key, 'base64')),
    replay: settings.REPLAY,
    touchScreens: settings.TOUCH_SCREENS,
    targets: { targetRefPatterns: settings.TARGET_REF_PATTERNS, fullRefPatterns: settings.FULL_REF_PATTERNS },
    adaptation: settings.ADAPTATION === 'on',
    processes: settings.PROCESSES ?? Math.min(PROCESSES_MAX, availableParallelism()),
    scoring: settings.SCORING,
    geography: {
      places: settings.GEOIP_DB ?? null,
      networks: settings.ASN_DB ?? null,
      anonymizers: settings.ANONYMIZERS ?? null,
    },
    contextIndicators: settings.CONTEXT_INDICATORS ?? CONTEXT_INDICATORS,
    alertHosts: settings.ALERT_HOSTS ?? { names: new Set(), domains: [], ranges: [] },
    alertCaFile: settings.ALERT_CA ?? null,
    requestsAtOnce: settings.REQUESTS_AT_ONCE,
    queueMs: settings.QUEUE_MS,
    storePatience: settings.STORE_PATIENCE,
    keyRate: { perSecond: settings.KEY_RATE, burst: burstOf(settings.KEY_RATE) },
    profileCacheBytes: settings.PROFILE_CACHE_MB * 1024 * 1024,
    stopLeadMs: settings.STOP_LEAD_S * 1000,
    readyNeedsStores: settings.READY_NEEDS_STORES === 'on',
    demo: settings.DEMO !== 'off',
    demoMonth: settings.DEMO === 'month',
    metricsAt: settings.METRICS_PORT === undefined ? null : { host: settings.HOST, port: settings.METRICS_PORT },
    traces:
      settings.TRACES_ENDPOINT === undefined
        ? null
        : { endpoint: settings.TRACES_ENDPOINT, ratio: settings.TRACES_RATIO },
    logLevel: settings.LOG_LEVEL,
    logFormat: settings.LOG_FORMAT,
    httpServer: settings.HTTP_SERVER,
  }
}

const FIRST = 'main'

/** The databases in the order of the settings. A database without a Redis of its own uses that of REDIS_URL. */
function databasesOf({ DATABASE_URL, DATABASE_URLS = [], REDIS_URL, REDIS_URLS = [] }: Settings): DatabaseSettings[] {
  const further = DATABASE_URLS.map(({ name, url }) => ({ name, url, setting: `DATABASE_URLS (${name})` }))
  return [{ name: FIRST, url: DATABASE_URL ?? null, setting: 'DATABASE_URL' }, ...further].map((one) => ({
    ...one,
    prepare: prepareOf(one.url ?? ''),
    redisUrl: REDIS_URLS.find(({ name }) => name === one.name)?.url ?? REDIS_URL ?? null,
  }))
}

function prepareOf(databaseUrl = ''): boolean | null {
  const [, prepare] = /[?&]prepare=(true|false)(?:&|$)/.exec(databaseUrl) ?? []
  return prepare === undefined ? null : prepare === 'true'
}

/** Variables that a file may contain instead, because other users can read an environment more easily than a file. */
export const SECRETS = ['DATABASE_URL', 'DATABASE_URLS', 'ENCRYPTION_KEY'] as const

/** Adds the contents of secret files to `given`, whose values have precedence. Returns the files that cannot be read. */
function readSecretFiles(given: Record<string, string | undefined>): string[] {
  return SECRETS.flatMap((name) => {
    const path = given[`${name}_FILE`]
    if (path === undefined || given[name] !== undefined) return []
    try {
      given[name] = readFileSync(path, 'utf8').trim()
      return []
    } catch (error) {
      return [`${name}_FILE: the file cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown error'})`]
    }
  })
}

/** Name, default and description of every variable, for `keystride config check` and the README. */
export const configTable = (): { name: string; fallback: string; meaning: string }[] =>
  Object.entries(Environment.shape).map(([name, schema]) => ({
    name,
    fallback: schema instanceof z.ZodDefault ? String(schema.def.defaultValue) : '',
    meaning: schema.description ?? '',
  }))
