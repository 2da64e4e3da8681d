import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { type Browser, chromium, type Page } from 'playwright-core'
import { table } from '../../src/cli/table.js'
import { connectPostgres } from '../../src/storage/postgres/connection/client.js'
import { postgresStatistics } from '../../src/storage/postgres/insight/statistics.js'
import { fillDatabase } from '../growth/filled.js'
import { verifyMany } from '../growth/verifies.js'
import { enroll } from '../ratio/people.js'
import { unitsFor } from '../ratio/sessions.js'
import { closeOnSignal, type Deployment, deploy, type Running } from '../shared/deployment.js'
import { quantile } from '../shared/drive.js'
import { residentBytes, servingMachine } from '../shared/machine.js'
import { benchOptions, runBench } from '../shared/options.js'

const HELP = `How long the views of the console take on a filled service, in Chromium: from a click until the view and every answer that it
waits for are shown. Also its first paint, its size, and the memory of the service while consoles are open.

  npm run bench -- console [options]

  --users N         users (100000)
  --attempts N      attempts of the last 30 days (1000000)
  --visits N        visits of each view (20)
  --open N          consoles that are open at once while the memory is read (10)
  --json FILE       also write the report to a file

Starts an embedded PostgreSQL and one process of the service. Needs Chromium (CHROMIUM, else /usr/bin/chromium).
`
const FILES = ['console.en.js', 'console.css']
/** The views with something that changes by itself, which open consoles show. */
const LIVE = ['', 'authentications?live=on', 'system']
const OPEN_MS = 60_000
const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium'

await runBench('console', async () => {
  const defaults = { users: 100_000, attempts: 1_000_000, visits: 20, open: 10 }
  const { numbers: options, files } = benchOptions('console', HELP, defaults, ['json'])
  if (!existsSync(CHROMIUM)) throw new Error(`no Chromium at ${CHROMIUM}: set CHROMIUM`)
  const facts = servingMachine()
  const say = (line: string) => process.stderr.write(`${line}\n`)
  const deployment = await deploy('Bench')
  closeOnSignal(deployment)
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] })
  try {
    await fill(deployment, options, say)
    const service = await deployment.service({ processes: 1, scoring: 'pool', redis: deployment.redisUrl !== null })
    await signIns(deployment, service)
    const access = { origin: `http://127.0.0.1:${service.port}`, apikey: deployment.apikey }
    say('first paint')
    const paints = await firstPaints(browser, access.origin, options.visits)
    const views = await measureViews(browser, access, options.visits, say)
    say(`memory with ${options.open} consoles`)
    const memory = await measureMemory(browser, access, service.pid, options.open)
    const report = { first_paint_ms: ofTimes(paints), views, memory, sizes: sizes() }
    process.stdout.write(`${shown(report)}\n`)
    const all = { report, options, machine: facts, at: new Date().toISOString() }
    if (files.json !== undefined) writeFileSync(files.json, `${JSON.stringify(all, null, 2)}\n`)
  } finally {
    await browser.close()
    await deployment.close()
  }
})

interface ConsoleAccess {
  readonly origin: string
  readonly apikey: string
}

interface Times {
  readonly p50: number
  readonly p95: number
}

interface Report {
  readonly first_paint_ms: Times
  /** By address below `/console/`. */
  readonly views: Readonly<Record<string, Times>>
  readonly memory: { readonly before_mib: number | null; readonly open_mib: number | null }
  /** Bytes after gzip, by file. */
  readonly sizes: Readonly<Record<string, number>>
}

/** Fills the database and counts its hours, as a job of the service would do in minutes. */
async function fill(
  { databaseUrl, organizationId }: Deployment,
  { users, attempts }: { readonly users: number; readonly attempts: number },
  say: (line: string) => void,
): Promise<void> {
  say(`filling ${users.toLocaleString('en')} users, ${attempts.toLocaleString('en')} attempts`)
  await fillDatabase(databaseUrl, organizationId, { users: [1, users], attempts: [1, attempts], say })
  const database = connectPostgres({ url: databaseUrl, max: 2 })
  const statistics = postgresStatistics(database)
  while (await statistics.countAttempts()) {
    // Repeats until all hours are counted.
  }
  await database.close()
}

/** People who typed: the picture of a sign-in needs a true one. */
async function signIns(deployment: Deployment, service: Running): Promise<void> {
  const people = 5
  await enroll({ port: service.port, apikey: deployment.apikey, people })
  await verifyMany({ deployment, service, units: unitsFor(people, 0) }, people)
}

async function firstPaints(browser: Browser, origin: string, visits: number): Promise<number[]> {
  const found: number[] = []
  for (let n = 0; n < visits; n++) {
    const page = await browser.newPage()
    await page.goto(`${origin}/console/`)
    await page.getByLabel('API key').waitFor()
    found.push(
      await page.evaluate<number>(
        `new Promise((done) => new PerformanceObserver((list) => done(list.getEntries()[0].startTime)).observe({ type: 'paint', buffered: true }))`,
      ),
    )
    await page.close()
  }
  return found
}

async function signedIn(browser: Browser, { origin, apikey }: ConsoleAccess, path = ''): Promise<Page> {
  const page = await (await browser.newContext({ locale: 'en' })).newPage()
  await page.goto(`${origin}/console/${path}`)
  await page.getByLabel('API key').fill(apikey)
  await page.getByLabel('API key').press('Enter')
  await page.locator('main h1').waitFor()
  return page
}

/** Follows a link to a view: an expression for the page, see `clicked`. */
function visit(address: string): string {
  return clicked(
    `document.body.appendChild(Object.assign(document.createElement('a'), { href: ${JSON.stringify(address)} }))`,
  )
}

/** Clicks a button of the view: an expression for the page, see `clicked`. */
function press(label: string): string {
  return clicked(
    `[...document.querySelectorAll('main button')].find((one) => one.textContent === ${JSON.stringify(label)})`,
  )
}

/** Clicks an element and resolves to the time until nothing of the view is loading any more, ms. */
function clicked(element: string): string {
  return `new Promise((done) => {
  const clicked = ${element}
  const begun = performance.now()
  clicked.click()
  if (clicked.parentNode === document.body) clicked.remove()
  const look = () => {
    if (document.querySelector('main .loading, main [aria-busy=true]') === null) done(performance.now() - begun)
    else requestAnimationFrame(look)
  }
  requestAnimationFrame(() => requestAnimationFrame(look))
})`
}

async function measureViews(
  browser: Browser,
  access: ConsoleAccess,
  visits: number,
  say: (line: string) => void,
): Promise<Readonly<Record<string, Times>>> {
  const page = await signedIn(browser, access, 'alerts')
  const found: Record<string, Times> = {}
  for (const path of await addresses(access)) {
    say(`view ${path === '' ? 'overview' : path}`)
    const times: number[] = []
    for (let n = 0; n < visits; n++) {
      await page.evaluate(visit(`${access.origin}/console/organization`))
      times.push(await page.evaluate<number>(visit(`${access.origin}/console/${path}`)))
      const failure = await page.locator('.failure').count()
      if (failure > 0) throw new Error(`view ${path}: ${await page.locator('.failure').first().innerText()}`)
    }
    found[path] = ofTimes(times)
  }
  say('simulation')
  found.simulation = ofTimes(await measureSimulation(page, access, visits))
  await page.context().close()
  return found
}

/** A policy decides again about the sign-ins of 90 days. */
async function measureSimulation(page: Page, access: ConsoleAccess, visits: number): Promise<readonly number[]> {
  const times: number[] = []
  for (let n = 0; n < visits; n++) {
    await page.evaluate(visit(`${access.origin}/console/organization`))
    await page.evaluate(visit(`${access.origin}/console/policies/${await firstId(access, '/policies')}?range=90d`))
    times.push(await page.evaluate<number>(press('Simulate')))
    await page.getByText('decisions would change').waitFor()
  }
  return times
}

/** Addresses below `/console/`, with the slowest ranges and orders that a person can choose. */
async function addresses(access: ConsoleAccess): Promise<readonly string[]> {
  return [
    '',
    '?range=90d',
    'users',
    'users?filter=777',
    'users?view=activity&range=90d',
    'users?view=locked',
    'users/user-42@example.com',
    'authentications',
    'authentications?range=90d&outcome=block',
    'authentications?range=90d&user=user-42@example.com',
    `authentications/${await firstId(access, '/authentications?limit=1')}`,
    'insight?range=90d',
    'policies',
    `policies/${await firstId(access, '/policies')}?range=90d`,
    'alerts',
    'words',
    'usage',
    'exports',
    'system',
  ]
}

async function firstId({ origin, apikey }: ConsoleAccess, path: string): Promise<string> {
  const response = await fetch(`${origin}/dashboard${path}`, { headers: { apikey } })
  const { data } = (await response.json()) as { data: readonly [{ readonly id: string }] }
  return data[0].id
}

async function measureMemory(
  browser: Browser,
  access: ConsoleAccess,
  pid: number,
  open: number,
): Promise<Report['memory']> {
  const mib = () => {
    const bytes = residentBytes(pid)?.largest ?? null
    return bytes === null ? null : Math.round(bytes / 2 ** 20)
  }
  const before_mib = mib()
  const pages: Page[] = []
  for (let n = 0; n < open; n++) pages.push(await signedIn(browser, access, LIVE[n % LIVE.length]))
  await new Promise((resolve) => setTimeout(resolve, OPEN_MS))
  const open_mib = mib()
  for (const page of pages) await page.context().close()
  return { before_mib, open_mib }
}

function sizes(): Readonly<Record<string, number>> {
  const folder = new URL('../../console/', import.meta.url)
  const compressed = (name: string) => gzipSync(readFileSync(new URL(name, folder)), { level: 9 }).length
  return Object.fromEntries(FILES.map((name) => [name, compressed(name)]))
}

function ofTimes(times: readonly number[]): Times {
  const sorted = Float64Array.from(times).sort()
  const rounded = (share: number) => Number(quantile(sorted, share).toFixed(0))
  return { p50: rounded(0.5), p95: rounded(0.95) }
}

function shown({ first_paint_ms: paint, views, memory, sizes: bytes }: Report): string {
  const rows = Object.entries({ 'first paint': paint, ...views }).map(([name, { p50, p95 }]) => [
    name === '' ? 'overview' : name,
    String(p50),
    String(p95),
  ])
  const kb = Object.entries(bytes).map(([name, size]) => `${name} ${(size / 1000).toFixed(1)} kB`)
  return [
    table(['view', 'p50 ms', 'p95 ms'], rows),
    `gzip: ${kb.join(', ')}`,
    `memory of the service: ${memory.before_mib ?? '?'} MiB, with the consoles open ${memory.open_mib ?? '?'} MiB`,
  ].join('\n\n')
}
