import { existsSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { ARRIVALS, type Arrivals, rampRates } from './arrivals.js'
import { milliseconds, share } from './quantities.js'
import { type Threshold, thresholds } from './thresholds.js'

/** The options of a run, with defaults. */
export interface Options {
  /** Base URL of the core API; null starts a service. */
  readonly core: string | null
  readonly apikey: string | null
  /** URL of the service's metrics; null takes /metrics of the service. */
  readonly metrics: string | null
  /** Sign-ins a second of each step; null runs one closed loop. */
  readonly rates: readonly number[] | null
  readonly isRamp: boolean
  readonly arrivals: Arrivals
  readonly connections: number
  readonly seconds: number
  readonly warmUpS: number
  readonly p99Ms: number
  readonly errors: number
  readonly timeoutMs: number
  readonly people: number
  readonly seed: number
  readonly data: string | null
  readonly impostors: number
  readonly enroll: number
  readonly codes: number
  readonly byCode: number
  readonly name: string
  readonly keep: boolean
  readonly json: string | null
  readonly html: string | null
  readonly failIf: readonly Threshold[]
  readonly workers: number
}

/** An invalid option. The message names the given and the expected value. */
export class OptionsError extends Error {
  override readonly name = 'OptionsError'
}

const DATA_SET = 'aalto_desktop.tsv.gz'
/** Each worker draws its arrivals from its own seed; a run has 64. */
const WORKERS_MAX = 64
const text = { type: 'string' } as const
const SPELLING = {
  url: text,
  'apikey-file': text,
  metrics: text,
  rate: text,
  arrivals: text,
  ramp: text,
  connections: text,
  duration: text,
  warmup: text,
  p99: text,
  errors: text,
  timeout: text,
  people: text,
  seed: text,
  data: text,
  impostors: text,
  enroll: text,
  codes: text,
  'by-code': text,
  name: text,
  keep: { type: 'boolean' },
  json: text,
  html: text,
  'fail-if': text,
  workers: text,
} as const

/** The options' names without the dashes. */
export const OPTION_NAMES = Object.keys(SPELLING)

/**
 * Reads the options of a command line. `now` (epoch ms) names the run without `--name`. Throws `OptionsError` at the first
 * invalid option.
 */
export function readOptions(args: readonly string[], env: NodeJS.ProcessEnv, now: number): Options {
  const given = parsed(args)
  const readers = readersOf(given)
  return {
    ...serviceOptions(given, readers, env),
    ...loadOptions(given, readers),
    ...peopleOptions(given, readers, now),
    ...outputOptions(given),
  }
}

type OptionName = keyof typeof SPELLING
type Given = ReturnType<typeof parsed>
type Readers = ReturnType<typeof readersOf>

/** Readers by kind of value. Each returns the fallback for an absent option and throws `OptionsError` for an invalid one. */
function readersOf(given: Given) {
  const read = <T>(name: OptionName, fallback: T, parse: (value: string) => T | null, wanted: string): T => {
    const value = given[name]
    if (value === undefined) return fallback
    const result = parse(String(value))
    if (result === null) throw new OptionsError(`--${name}: expected ${wanted}, got ${JSON.stringify(value)}`)
    return result
  }
  const whole = (name: OptionName, fallback: number, least = 1) =>
    read(
      name,
      fallback,
      (value) => (/^\d+$/.test(value) && Number(value) >= least ? Number(value) : null),
      `a whole number from ${least} up`,
    )
  const time = (name: OptionName, fallbackMs: number, leastMs: number) =>
    read(
      name,
      fallbackMs,
      (value) => atLeast(milliseconds(value), leastMs),
      `a time such as 50ms, 10s or 2m, at least ${leastMs} ms`,
    )
  const part = (name: OptionName, fallback: number) => read(name, fallback, share, 'a share such as 0.02 or 2%')
  return { read, whole, time, part }
}

function serviceOptions(given: Given, { read, time }: Readers, env: NodeJS.ProcessEnv) {
  const core = read('url', null, coreBase, 'a URL such as http://host:8080')
  return {
    core,
    apikey: core === null ? null : apikeyOf(given['apikey-file'], env),
    metrics: read('metrics', null, metricsUrl, 'a URL such as http://host:9100/metrics'),
    timeoutMs: time('timeout', 10_000, 1),
  }
}

function loadOptions(given: Given, { read, whole, time, part }: Readers) {
  const isRamp = given.ramp !== undefined
  const rates = ratesOf(given, read)
  const connections = whole('connections', rates === null ? 64 : 256)
  const workers = whole('workers', Math.min(connections, Math.max(1, Math.floor(availableParallelism() / 4))))
  if (workers > Math.min(connections, WORKERS_MAX))
    throw new OptionsError(
      `--workers: expected at most ${WORKERS_MAX} and no more than the ${connections} connections, got ${workers}`,
    )
  return {
    rates,
    isRamp,
    arrivals: read<Arrivals>(
      'arrivals',
      'poisson',
      (value) => ARRIVALS.find((kind) => kind === value) ?? null,
      `one of ${ARRIVALS.join(', ')}`,
    ),
    connections,
    workers,
    seconds: time('duration', isRamp ? 10_000 : 30_000, 1000) / 1000,
    warmUpS: time('warmup', isRamp ? 2000 : 5000, 0) / 1000,
    p99Ms: time('p99', 50, 0.001),
    errors: part('errors', 0.001),
  }
}

/** The rates of `--ramp` or `--rate`; null without either. */
function ratesOf(given: Given, read: Readers['read']): readonly number[] | null {
  if (given.rate !== undefined && given.ramp !== undefined)
    throw new OptionsError('--rate and --ramp cannot be combined')
  const rate = read<number | null>('rate', null, (value) => atLeast(Number(value), 0.01), 'sign-ins a second, above 0')
  const ramp = given.ramp === undefined ? null : rampRates(given.ramp)
  if (typeof ramp === 'string') throw new OptionsError(`--ramp: ${ramp}, got ${JSON.stringify(given.ramp)}`)
  return ramp ?? (rate === null ? null : [rate])
}

function peopleOptions(given: Given, { read, whole, part }: Readers, now: number) {
  return {
    people: whole('people', 100),
    seed: whole('seed', 1, 0),
    data: read(
      'data',
      null,
      (folder) => (existsSync(join(folder, DATA_SET)) ? folder : null),
      `a folder with ${DATA_SET}`,
    ),
    impostors: part('impostors', 0.02),
    enroll: part('enroll', 0.01),
    codes: part('codes', 0.25),
    byCode: part('by-code', 0.02),
    name: read(
      'name',
      (now % 36 ** 7).toString(36),
      (value) => (/^[a-z0-9-]{1,40}$/.test(value) ? value : null),
      '1 to 40 of a-z, 0-9 and -',
    ),
    keep: given.keep === true,
  }
}

function outputOptions(given: Given) {
  const failIf = given['fail-if'] === undefined ? [] : thresholds(given['fail-if'])
  if (typeof failIf === 'string') throw new OptionsError(`--fail-if: ${failIf}`)
  return { json: given.json ?? null, html: given.html ?? null, failIf }
}

const atLeast = (value: number | null, least: number) => (value !== null && value >= least ? value : null)

function parsed(args: readonly string[]) {
  if (args.some((arg) => /^--?api-?key(=|$)/.test(arg))) {
    throw new OptionsError(
      'a key on the command line would be visible in every process list: use --apikey-file or KEYSTRIDE_APIKEY',
    )
  }
  try {
    return parseArgs({ args: [...args], options: SPELLING, allowPositionals: false }).values
  } catch (error) {
    throw new OptionsError(`${(error as Error).message.split('. ')[0]}; --help lists the options`)
  }
}

function coreBase(value: string): string | null {
  if (!URL.canParse(value)) return null
  const url = new URL(value)
  if (!/^https?:$/.test(url.protocol)) return null
  return url.origin + (url.pathname === '/' ? '/core' : url.pathname.replace(/\/+$/, ''))
}

const metricsUrl = (value: string): string | null =>
  URL.canParse(value) && /^https?:$/.test(new URL(value).protocol) ? new URL(value).href : null

/** The key in a file, bare or in a `demo.json`; else the key in the environment. */
function apikeyOf(file: string | undefined, env: NodeJS.ProcessEnv): string {
  if (file === undefined) {
    if (env.KEYSTRIDE_APIKEY) return env.KEYSTRIDE_APIKEY.trim()
    throw new OptionsError('--url requires an API key: --apikey-file FILE, or the variable KEYSTRIDE_APIKEY')
  }
  if (!existsSync(file)) throw new OptionsError(`--apikey-file: no such file: ${JSON.stringify(file)}`)
  const content = readFileSync(file, 'utf8').trim()
  const key = content.startsWith('{') ? keyIn(content) : content
  if (!/^[\x21-\x7e]+$/.test(key))
    throw new OptionsError(`--apikey-file: ${JSON.stringify(file)} holds no key: expected only the key, or a demo.json`)
  return key
}

function keyIn(json: string): string {
  try {
    const { apikey } = JSON.parse(json) as { apikey?: unknown }
    return typeof apikey === 'string' ? apikey : ''
  } catch {
    return ''
  }
}
