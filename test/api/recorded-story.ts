import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { KeyScope, Quotas } from '../../src/domain/organization.js'
import { DEFAULT_POLICY } from '../../src/domain/policy.js'
import { createAdmission } from '../../src/http/admission.js'
import { readConfig } from '../../src/process/config.js'
import { jsonLog } from '../../src/process/log.js'
import { person, wirePattern } from '../../src/typist/made-up-person.js'
import { administration, openStores } from '../../src/wiring/open-stores.js'
import { enroll, stranger, text, wordsBy } from '../harness/enrolled.js'
import { until } from '../harness/patience.js'
import { ask as askRaw, request } from '../harness/raw.js'
import { startService, type TestService } from '../harness/service.js'
import { DEVICE, succeed } from '../harness/sign-ins.js'
import { goodKey, start, stop } from '../http/table.js'
import { certificate } from '../servers/certificate.js'
import { freshDatabase } from '../servers/database.js'
import { gatewaySink, smtpSink, streamSink } from '../servers/sinks.js'
import { createRecorder, type Recorder } from './recorder.js'

/** The pattern in the documents: a short one that is accepted. */
export function shownPattern(): Record<string, unknown> {
  const { k: _, ...pattern } = person(11).types('keys tell people', 0)
  return { ...pattern, d: DEVICE }
}
const ID = '00000000-0000-7000-8000-000000000000'
const ANN = { userRef: 'ann' }
const WINDOW = { date_from: '2026-01-01T00:00:00Z', date_to: '2026-01-02T00:00:00Z' }

/** Actions that an operator performs on the command line. */
interface Operator {
  issueKey(organizationId: string, scopes: readonly KeyScope[]): Promise<string>
  setQuotas(organizationId: string, changes: Partial<Quotas>): Promise<unknown>
  setRate(organizationId: string): Promise<unknown>
}

/** Calls every route of a service, and collects one answer of each documented reply and each kind of refusal. */
export async function playStory(): Promise<Pick<Recorder, 'replies' | 'refusals'>> {
  const folder = mkdtempSync(join(tmpdir(), 'keystride-recorded-'))
  writeFileSync(join(folder, 'ca.pem'), certificate)
  const fresh = await freshDatabase()
  const more = {
    PUBLIC_URL: 'https://login.example.org',
    ALERT_HOSTS: 'localhost',
    ALERT_CA: join(folder, 'ca.pem'),
    DEMO: 'on',
  }
  const service = await startService(fresh.url, { more })
  const stores = await openStores(readConfig(service.env), jsonLog('error'), { redis: false, schema: 'migrate' })
  const flows = administration(stores)
  const operator: Operator = {
    issueKey: async (organizationId, scopes) => (await flows.issueKey(organizationId, 'test', { scopes })).apikey,
    setQuotas: flows.setQuotas,
    setRate: (organizationId) => flows.setKeyRate(organizationId, { perSecond: 1, burst: 1 }),
  }
  const recorder = createRecorder(service.core.replace(/\/core$/, ''), service.apikey)
  try {
    await signIns(recorder, service)
    await organization(recorder)
    await sharedAccounts(recorder)
    await links(recorder, service)
    await dashboard(recorder, service)
    await alerts(recorder)
    await policies(recorder)
    await keys(recorder)
    await refusedCalls(recorder, service)
    await refusedOrganizations(recorder, service, operator)
    await refusedByServer(recorder)
    await endings(recorder, service)
  } finally {
    await service.close()
    await stores.close()
    await fresh.drop()
    rmSync(folder, { recursive: true })
  }
  return recorder
}

async function signIns({ reply, refusal }: Recorder, service: TestService): Promise<void> {
  await reply('core', 'GET /status', 200)
  const shell = await reply('core', 'GET /users/{userRef}', 404, { path: ANN })
  await reply('core', 'POST /users/{userRef}', 201, {
    path: ANN,
    body: { user_display_name: 'Ann', rotate_security_code: true },
  })
  await reply('core', 'POST /users/{userRef}', 200, { path: ANN })
  const first = { path: ANN, session: shell.sessionId, body: shownPattern() }
  await reply('core', 'POST /users/{userRef}/typing-patterns', 200, first)
  await refusal('replay-detected', 'core', 'POST /users/{userRef}/typing-patterns', first)
  const who = await enroll(service, 'ann', 4)
  await refusal('profile-complete', 'core', 'POST /users/{userRef}/typing-patterns', {
    ...first,
    session: who.session,
    body: who.fresh(),
  })
  await succeed(service, who, 1)
  for (let authenticated = false; !authenticated; ) {
    const { session } = await service.bootstrap('ann')
    const body = { ...(who.fresh() as object), d: DEVICE }
    const call = { path: ANN, session, body }
    authenticated = (await reply('core', 'POST /users/{userRef}/verify', 200, call)).authentication.authenticated
  }
  const { session } = await service.bootstrap('ann')
  await reply('core', 'POST /user-verify/{userRef}', 200, { path: ANN, session, body: stranger() })
  await reply('core', 'PATCH /users/{userRef}', 200, {
    path: ANN,
    body: { groups: ['accounting'], tag: { site: 'paris' } },
  })
  await reply('core', 'PUT /users/{userRef}/preferred-language', 200, { path: ANN, body: { language: 'fr' } })
  await reply('core', 'POST /users/{userRef}/pending-action', 200, {
    path: ANN,
    body: { action: 'UPDATE_BIOMETRIC_PROFILE' },
  })
  await reply('core', 'DELETE /users/{userRef}/pending-action', 200, { path: ANN })
  const code = { path: ANN, session }
  await reply('core', 'POST /users/{userRef}/security-code', 200, code)
  const chosen = { ...code, body: { securityCode: '749205' } }
  await reply('core', 'PUT /users/{userRef}/security-code', 200, chosen)
  await refusal('security-code-weak', 'core', 'PUT /users/{userRef}/security-code', {
    ...code,
    body: { securityCode: '111111' },
  })
  await reply('core', 'DELETE /users/{userRef}/security-code', 200, code)
  await reply('core', 'GET /users/{userRef}', 200, { path: ANN })
  await reply('core', 'POST /feedback/{authenticationId}', 200, { path: { authenticationId: ID }, body: {} })
}

async function organization({ reply, refusal }: Recorder): Promise<void> {
  await reply('core', 'GET /organization', 200)
  await reply('core', 'GET /organization/language', 200)
  await reply('core', 'PATCH /organization/language', 200, { body: { language_mode: 'forced' } })
  const words = await reply('core', 'GET /organization/typing-words', 200, { query: '?language=nl' })
  await reply('core', 'GET /organization/typing-words/languages', 200)
  const word = { word: 'keystride', language: 'nl' }
  const { id } = await reply('core', 'POST /organization/typing-words', 201, { body: word })
  await refusal('typing-word-taken', 'core', 'POST /organization/typing-words', { body: word })
  await reply('core', 'PATCH /organization/typing-words', 200, { body: { id, enabled: false } })
  await reply('core', 'DELETE /organization/typing-words', 200, { body: { id } })
  await refusal('typing-word-not-found', 'core', 'DELETE /organization/typing-words', { body: { id } })
  const core: { id: string }[] = words.words
  await refusal('core-word', 'core', 'DELETE /organization/typing-words', { body: { id: core[0]?.id } })
  const [last, ...others] = core.slice(29)
  for (const one of others)
    await reply('core', 'PATCH /organization/typing-words', 200, { body: { id: one.id, enabled: false } })
  await reply('core', 'PATCH /organization/typing-words', 200, {
    body: { id: core[0]?.id, enabled: true },
  })
  await refusal('typing-words-bound', 'core', 'PATCH /organization/typing-words', {
    body: { id: last?.id, enabled: false },
  })
}

async function sharedAccounts({ reply, refusal }: Recorder): Promise<void> {
  const desk = { userRef: 'desk' }
  const create = { path: desk, body: { type: 'generic', member_ref: 'bob' }, shown: false }
  await reply('core', 'POST /users/{userRef}', 201, create)
  await reply('core', 'GET /users/{userRef}/members', 200, { path: desk })
  await refusal('member-required', 'core', 'DELETE /users/{userRef}/typing-patterns', { path: desk })
  await refusal('member-exists', 'core', 'PATCH /users/{userRef}', { path: desk, body: { member_ref: 'bob' } })
  await refusal('member-mismatch', 'core', 'GET /users/{userRef}', { path: ANN, query: '?member_ref=bob' })
  await refusal('account-type', 'core', 'PATCH /users/{userRef}', { path: ANN, body: { type: 'generic' } })
}

async function links({ reply, refusal }: Recorder, service: TestService): Promise<void> {
  const eve = { userRef: 'eve' }
  const body = { redirect_uri: 'https://login.example.com/welcome', validity: 3600 }
  const { key } = await reply('auth', 'POST /api/links/create-profile/{userRef}', 200, { path: eve, body })
  const typed = { headers: { 'X-Link-Key': key }, body: person(3).types(await wordsBy(service, key), 0) }
  await refusal('words-not-typed', 'auth', 'POST /typing-patterns', { ...typed, body: person(3).types(text(9), 9) })
  await reply('auth', 'POST /typing-patterns', 200, typed)
  const foreign = { ...typed.headers, origin: 'https://elsewhere.example' }
  await refusal('cross-site', 'auth', 'POST /typing-patterns', { ...typed, headers: foreign })
  await reply('auth', 'POST /api/links/reset-profile/{userRef}', 200, { path: ANN, body })
  await reply('auth', 'POST /api/links/complete-profile/{userRef}', 200, { path: ANN, body })
  await service.dashboard('POST', '/users/eve/actions', { body: { action: 'lock' } })
  await refusal('profile-locked', 'auth', 'POST /typing-patterns', { ...typed, body: person(3).types(text(2), 0) })
  await reply('auth', 'DELETE /api/links/{userRef}', 200, { path: eve })
  await refusal('link-unknown', 'auth', 'POST /typing-patterns', typed)
  await service.call('DELETE', '/users/eve')
}

async function dashboard(recorder: Recorder, service: TestService): Promise<void> {
  const get = (path: string, call: object = {}) => recorder.reply('dashboard', `GET ${path}`, 200, call)
  const post = (path: string, body: unknown, call: object = {}) =>
    recorder.reply('dashboard', `POST ${path}`, 200, { body, ...call })
  for (const path of ['/users', '/users-growth', '/authentications-history', '/patterns', '/patterns/tags'])
    await get(path)
  for (const path of ['/users/{userRef}', '/users/{userRef}/members', '/users/{userRef}/logs'])
    await get(path, { path: ANN })
  await post('/users/{userRef}/logs', {}, { path: ANN })
  await post('/users/{userRef}/actions', { action: 'unlock' }, { path: ANN })
  await get('/users/{userRef}/actions', { path: ANN })
  await get('/users-refs/{search}', { path: { search: 'an' } })
  const own = '?user_ref=ann'
  const { data: attempts } = await get('/authentications', { query: own })
  const { id } = attempts[1]
  await get('/authentications/{id}', { path: { id } })
  await get('/authentications-history/{userRef}', { path: ANN })
  await get('/authentication/{id}/trace', { path: { id } })
  await get('/authentication/{id}/presses', { path: { id } })
  await get('/authentication/{id}/what-if', { path: { id } })
  const place = { id, indicator: 'biometric' }
  const signals = await get('/authentication/{id}/{indicator}/signals', { path: place })
  const { signal } = signals.data[0]
  await get('/authentication/{id}/{indicator}/signals/{signal}', { path: { ...place, signal } })
  const patterns = await get('/patterns')
  await post('/patterns', { ids: [patterns.data[0].id] })
  await post('/patterns/tags', {})
  await get('/patterns/tags/{tag}', { path: { tag: 'app' } })
  await post('/patterns/tags/{tag}', {}, { path: { tag: 'app' } })
  for (const name of ['daily-usages', 'blocked-users', 'blocked-users-history', 'users', 'groups/', 'geolocation'])
    await get(`/aggregations/${name}`)
  await post('/aggregations/blocked-users/batch', { windows: [WINDOW] })
  await get('/aggregations/users/{userRef}', { path: ANN })
  await get('/aggregations/contextual/{indicator}', { path: { indicator: 'biometric' } })
  for (const name of ['application/', 'confidence', 'authentications-history', 'connexion-stats'])
    await get(`/aggregations/${name}`)
  await get('/activities/{type}', { path: { type: 'events' } })
  await get('/activities-details')
  await get('/data-counter')
  await post('/data-counter/batch', { windows: [WINDOW] })
  await get('/sorting/users')
  await post('/sorting/users', { sort: 'blocked', order: 'desc', limit: 10 })
  await get('/system')
  await get('/usage/history')
  await until(async () => (await service.dashboard('GET', '/usage/api')).json.count > 0)
  await get('/usage/api')
  await until(async () => (await service.dashboard('GET', '/logs')).json.count > 0)
  const logs = await get('/logs')
  await post('/logs', { limit: 20 })
  await get('/logs/{id}', { path: { id: logs.data[0].id } })
  await recorder.reply('dashboard', 'POST /logs/{id}', 200, { path: { id: logs.data[0].id } })
  await exported(recorder)
}

async function exported({ reply }: Recorder): Promise<void> {
  const window = { date_from: '2026-01-01', date_to: '2026-02-01' }
  const { id } = await reply('dashboard', 'POST /management/export-log', 202, { body: window })
  const archives = () => reply('dashboard', 'POST /management/logs-archives', 200)
  await until(async () => (await archives()).data[0].status === 'ready')
  await reply('dashboard', 'POST /management/download-archive', 200, { body: { id } })
}

async function alerts({ reply }: Recorder): Promise<void> {
  const [mail, gateway, syslog] = await Promise.all([smtpSink(), gatewaySink(), streamSink(true)])
  const settings = {
    email: {
      host: 'localhost',
      port: mail.port,
      tls: 'starttls',
      sender: 'a@corp.example',
      recipients: ['b@corp.example'],
    },
    sms: {
      url: `https://localhost:${gateway.port}/send`,
      recipients: ['+33612345678'],
      signing_secret: 'sixteen characters or more',
    },
    syslog: { host: 'localhost', port: syslog.port, transport: 'tls', facility: 'auth' },
    webhook: { url: `https://localhost:${gateway.port}/hooks` },
  }
  await reply('dashboard', 'GET /alert', 200)
  await reply('dashboard', 'POST /alert', 200, { body: { blocked: { email: false } } })
  for (const [channel, body] of Object.entries(settings)) {
    await reply('dashboard', `POST /alert/${channel}`, 200, { body })
    await reply('dashboard', `GET /alert/${channel}`, 200)
    await reply('dashboard', `POST /alert/${channel}/test`, 200)
    await reply('dashboard', 'GET /alert/deliveries', 200)
    await reply('dashboard', `DELETE /alert/${channel}`, 200)
  }
  await Promise.all([mail.close(), gateway.close(), syslog.close()])
  const listed = () => reply('dashboard', 'GET /notifications', 200)
  await until(async () => (await listed()).count > 0)
  await reply('dashboard', 'GET /notifications/read', 200, { query: '?all=true' })
  await reply('dashboard', 'POST /notifications/read', 200, { body: { all: true } })
}

async function policies({ reply, refusal }: Recorder): Promise<void> {
  const body = { ...DEFAULT_POLICY, name: 'vault', decision_threshold: 0.8, groups: ['accounting'] }
  const made = await reply('dashboard', 'POST /policies', 201, { body })
  const path = { id: made.data.id }
  await reply('dashboard', 'GET /policies', 200)
  const { data } = await reply('dashboard', 'GET /default-policy', 200)
  await reply('dashboard', 'GET /policies/{id}', 200, { path })
  await reply('dashboard', 'PUT /policies/{id}', 200, { path, body: { ...body, decision_threshold: 0.7 } })
  await reply('dashboard', 'POST /policies/{id}/simulate', 200, { path, body: {} })
  await reply('dashboard', 'POST /policies/simulate', 200, { body: { policy: body } })
  await reply('dashboard', 'POST /policies/{id}/shadow', 200, { path })
  await reply('dashboard', 'GET /policies/{id}/shadow', 200, { path })
  await reply('dashboard', 'GET /policies/{id}/shadow-history', 200, { path })
  await reply('dashboard', 'DELETE /policies/{id}/shadow', 200, { path })
  await reply('dashboard', 'POST /policies/{id}/default', 200, { path })
  await refusal('policy-default', 'dashboard', 'DELETE /policies/{id}', { path })
  await reply('dashboard', 'POST /policies/{id}/default', 200, { path: { id: data.id } })
  await reply('dashboard', 'DELETE /policies/{id}', 200, { path })
}

async function keys({ reply, refusal }: Recorder): Promise<void> {
  await reply('dashboard', 'GET /organization', 200)
  await reply('dashboard', 'DELETE /organization/made-up-people', 200)
  const own = await reply('dashboard', 'GET /key', 200)
  const made = await reply('dashboard', 'POST /keys', 201, { body: { label: 'console', scopes: ['dashboard'] } })
  await reply('dashboard', 'GET /keys', 200)
  await reply('dashboard', 'DELETE /keys/{id}', 200, { path: { id: made.data.id } })
  await refusal('key-own', 'dashboard', 'DELETE /keys/{id}', { path: { id: own.data.id } })
}

async function refusedCalls({ reply, refusal }: Recorder, service: TestService): Promise<void> {
  const verify = 'POST /users/{userRef}/verify'
  const { session } = await service.bootstrap('ann')
  await refusal('request-malformed', 'core', 'GET /users/{userRef}', { path: ANN, query: '?language=fr&language=en' })
  await refusal('session-missing', 'core', verify, { path: ANN, body: shownPattern() })
  await refusal('key-missing', 'core', 'GET /organization', { apikey: 'unknown' })
  await refusal('user-not-found', 'core', 'GET /users/{userRef}/members', { path: { userRef: 'nobody' } })
  await refusal('pattern-not-found', 'core', 'DELETE /users/{userRef}/typing-patterns/{patternId}', {
    path: { ...ANN, patternId: ID },
  })
  await refusal('nothing-found', 'dashboard', 'GET /authentications/{id}', { path: { id: ID } })
  await refusal('body-too-large', 'core', 'POST /users/{userRef}', {
    path: ANN,
    body: { user_display_name: 'x'.repeat(20_000) },
  })
  await refusal('media-type-unsupported', 'core', 'POST /users/{userRef}', {
    path: ANN,
    body: {},
    headers: { 'content-type': 'text/plain' },
  })
  await refusal('validation-failed', 'core', 'POST /users/{userRef}', { path: ANN, body: { type: 'shared' } })
  await refusal('pattern-invalid', 'core', verify, {
    path: ANN,
    session,
    body: { ...shownPattern(), kevt: [] },
  })
  const machine = wirePattern([...text(1)].map((letter, i) => [letter, i * 130, i * 130 + 70]))
  const enrollment = 'POST /users/{userRef}/typing-patterns'
  await refusal('bot-detected', 'core', enrollment, { path: ANN, session, body: machine })
  // Two codes were issued before; five an hour are allowed.
  for (let n = 0; n < 3; n++)
    await reply('core', 'POST /users/{userRef}/security-code', 200, { path: ANN, session, shown: false })
  await refusal('rate-limited', 'core', 'POST /users/{userRef}/security-code', { path: ANN, session })
  await refusedEarly({ refusal }, service)
}

async function refusedEarly({ refusal }: Pick<Recorder, 'refusal'>, service: TestService): Promise<void> {
  const { data: policy } = (await service.dashboard('GET', '/default-policy')).json
  const setHours = (minHoursBetween: number) =>
    service.dashboard('PUT', `/policies/${policy.id}`, { body: { ...policy, enrollment: { minHoursBetween } } })
  await setHours(20)
  const { session, fresh } = await enroll(service, 'early', 1)
  const path = { userRef: 'early' }
  await refusal('too-soon', 'core', 'POST /users/{userRef}/typing-patterns', { path, session, body: fresh() })
  await setHours(0)
}

async function refusedOrganizations({ refusal }: Recorder, service: TestService, operator: Operator): Promise<void> {
  const other = await service.another()
  const reads = await operator.issueKey(service.organizationId, ['dashboard:read'])
  await refusal('key-scope', 'core', 'GET /organization', { apikey: reads })
  const create = (userRef: string, body: object) => ({ path: { userRef }, body, apikey: other.apikey })
  const route = 'POST /users/{userRef}'
  await service.call('POST', '/users/one', {
    headers: { apikey: other.apikey },
    body: { type: 'generic', member_ref: 'a' },
  })
  const limit = (changes: Partial<Quotas>) =>
    operator.setQuotas(other.organizationId, {
      mode: 'strict',
      accounts: 0,
      sharedAccounts: 0,
      membersPerSharedAccount: 0,
      ...changes,
    })
  await limit({ accounts: 1 })
  await refusal('accounts-quota', 'core', route, create('two', {}))
  await limit({ sharedAccounts: 1 })
  await refusal('shared-accounts-quota', 'core', route, create('two', { type: 'generic', member_ref: 'a' }))
  await limit({ membersPerSharedAccount: 1 })
  await refusal('members-quota', 'core', route, create('one', { member_ref: 'b' }))
  await operator.setRate(other.organizationId)
  const asks = () => service.call('GET', '/organization', { headers: { apikey: other.apikey } })
  await until(async () => (await asks()).status === 429)
  const overRate = () => refusal('over-rate', 'core', 'GET /organization', { apikey: other.apikey })
  // The rate may have admitted one more call in between; the first try then uses it up.
  await overRate().catch(overRate)
}

/** The refusals of servers with a failing handler, a lost store and a full queue. */
async function refusedByServer({ refusals }: Recorder): Promise<void> {
  const admission = createAdmission({ atOnce: 1, waitMs: 0 })
  const distressed = await start({ newRequestId: () => ID })
  const full = await start({ admission })
  const key = `apikey: ${goodKey}`
  const json = async (port: number, line: string) => JSON.parse((await askRaw(port, request(line, [key])))?.text ?? '')
  refusals.internal = await json(distressed.server.port, 'DELETE /core/words/any')
  distressed.degraded = 'degraded: PostgreSQL out of reach'
  refusals.degraded = await json(distressed.server.port, 'GET /core/users/ann')
  admission.enter('verify', '', performance.now())
  const waits = json(full.server.port, 'GET /core/users/ann')
  await until(async () => admission.waiting() > 0)
  admission.watch(performance.now() + 60_000)
  refusals.overloaded = await waits
  await Promise.all([stop(distressed), stop(full)])
}

async function endings({ reply }: Recorder, service: TestService): Promise<void> {
  const [one] = (await service.dashboard('GET', '/users/ann')).json.data.members[0].pattern_references
  await reply('core', 'DELETE /users/{userRef}/typing-patterns/{patternId}', 200, {
    path: { ...ANN, patternId: one.id },
  })
  await reply('core', 'POST /user-action/{userRef}', 200, { path: ANN, body: { action: 'RESET_BIOMETRIC_PROFILE' } })
  await reply('core', 'DELETE /users/{userRef}/typing-patterns', 200, { path: ANN })
  await reply('core', 'DELETE /user-display-names', 200)
  await reply('core', 'DELETE /users/{userRef}', 200, { path: ANN })
  await reply('core', 'DELETE /user-delete/{userRef}', 200, { path: { userRef: 'desk' } })
}
