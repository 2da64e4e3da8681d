import { v7 as uuid } from 'uuid'
import { beforeAll, describe, expect, it } from 'vitest'
import { EXPORT_COLUMNS } from '../../../src/domain/export.js'
import { figure } from '../../harness/figure.js'
import { until } from '../../harness/patience.js'
import { sharedService } from '../../harness/service.js'
import { visited } from '../../harness/sign-ins.js'
import { ownRows } from '../own-rows.js'
import { speakingFor } from '../second-service.js'
import { csvRecords, unzipped } from './archive-file.js'

const service = await sharedService()
const rows = ownRows(service)
beforeAll(async () => {
  await visited(service, 'ann')
  await visited(service, 'bob')
})

const window = () => ({
  date_from: new Date(Date.now() - 3_600_000).toISOString(),
  date_to: new Date(Date.now() + 60_000).toISOString(),
})
const post = (path: string, body?: unknown, apikey?: string) =>
  service.dashboard('POST', path, { body, ...(apikey === undefined ? {} : { apikey }) })
const archives = async () => (await post('/management/logs-archives')).json.data
const archive = async (id: string) => (await archives()).find((one: { id: string }) => one.id === id)

async function exported(kind: string): Promise<string> {
  const { status, json } = await post('/management/export-log', { ...window(), kind })
  expect(json.data).toEqual({ id: json.id })
  expect(status).toBe(202)
  await until(async () => (await archive(json.id))?.status === 'ready')
  return json.id
}
const download = (id: string, apikey = service.apikey) =>
  fetch(`${service.core.replace('/core', '/dashboard')}/management/download-archive`, {
    method: 'POST',
    headers: { apikey, 'content-type': 'application/json' },
    body: JSON.stringify({ id }),
  })
async function recordsOf(id: string) {
  const answer = await download(id)
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/zip'])
  const bytes = new Uint8Array(await answer.arrayBuffer())
  expect((await archive(id)).size).toBe(bytes.length)
  const { name, content } = unzipped(bytes)
  return { name, records: csvRecords(content.toString('utf8')), text: content.toString('utf8') }
}

describe('POST /management/export-log', () => {
  it('gives every authentication of the window, as GET /authentications shows it, with the listed columns only', async () => {
    const id = await exported('authentications')
    const { name, records } = await recordsOf(id)
    expect(name).toBe('authentications.csv')
    expect(records[0]).toEqual([...EXPORT_COLUMNS.authentications])
    const listed = (await service.dashboard('GET', '/authentications?limit=500')).json.data
    expect(listed.length).toBeGreaterThan(3)
    expect(records.length - 1).toBe(listed.length)
    const columns = records[0] ?? []
    const exportedRows = records.slice(1).map((row) => Object.fromEntries(columns.map((column, i) => [column, row[i]])))
    for (const one of listed) {
      const row = exportedRows.find((candidate) => candidate.id === one.id)
      expect(row).toMatchObject({
        user_ref: one.user_ref,
        auth_method: one.auth_method,
        authenticated: String(one.authenticated),
        recommended_action: one.recommended_action,
        confidence: String(one.confidence),
        session_id: one.session_id,
      })
    }
  })

  it('gives the request log and the ledger', async () => {
    await until(async () => (await service.dashboard('GET', '/logs')).json.count > 0)
    const logs = await recordsOf(await exported('logs'))
    expect(logs.records[0]).toEqual([...EXPORT_COLUMNS.logs])
    expect(logs.records.slice(1).map((row) => row[4])).toContain('/users/{userRef}')
    const usage = await recordsOf(await exported('usage'))
    expect(usage.records[0]).toEqual([...EXPORT_COLUMNS.usage])
    expect(usage.records.slice(1).map((row) => row[0])).toContain('enroll')
    const columns = [...Object.values(EXPORT_COLUMNS)].flat()
    const secret = columns.filter((name) =>
      /secret|sealed|sample|pattern_id|sha256|hash|code|key|pepper|token|facts|wrapped|display|timing/.test(name),
    )
    figure('T32', `${secret.length} of ${columns.length} exported columns secret`, '0', secret.length === 0)
  })

  it('has no cell that begins a formula, and keeps quotes, commas and line ends', async () => {
    const hostile = ['=cmd|1', '+1', '-1', '@x', '\tx', '\rx', '\nx', '＝1', 'a"b', 'a,b', 'a\r\nb', "'x", '']
    for (const text of hostile)
      await rows((sql) => {
        const id = uuid()
        return sql`
          insert into keystride.authentication (organization_id, id, created_at, account_id, member_id, user_ref, member_ref,
            account_type, session_id, method, authenticated, recommended_action, reason, confidence, confidence_biometrics,
            policy_id, n_patterns_ref, n_patterns_ref_used)
          values (${service.organizationId}, ${id}, now(), ${id}, ${id}, 'hostile', ${text}, 'nominative', '', 'biometric', false,
            'block', '', -0.5, 0, ${id}, 0, 0)`
      })
    const { records, text } = await recordsOf(await exported('authentications'))
    const found = records.filter((row) => row[2] === 'hostile')
    expect(found.map((row) => row[3])).toEqual(hostile.map((one) => (/^[=+\-@\t\r\n＝]/.test(one) ? `'${one}` : one)))
    expect(found.map((row) => row[10])).toEqual(hostile.map(() => "'-0.5"))
    expect(records.flat().filter((cell) => /^[=+\-@\t\r\n\0＝]/.test(cell))).toEqual([])
    expect(new Set(records.map((row) => row.length))).toEqual(new Set([EXPORT_COLUMNS.authentications.length]))
    expect(text).toContain('"a""b"')
    await rows((sql) => sql`delete from keystride.authentication where user_ref = 'hostile'`)
  })

  it('refuses an invalid window, and an eleventh queued export', async () => {
    for (const path of ['export-log', 'download-archive'])
      expect((await post(`/management/${path}`, {})).status).toBe(422)
    const { date_from, date_to } = window()
    expect((await post('/management/export-log', { date_from: date_to, date_to: date_from })).status).toBe(422)
    expect((await post('/management/export-log', { ...window(), kind: 'patterns' })).status).toBe(422)
    const other = await service.another()
    // A worker has claimed ten exports and never finishes.
    await ownRows(speakingFor(service, other.organizationId, other.apikey))(
      (sql) => sql`
        insert into keystride.export_archive (organization_id, id, kind, date_from, date_to, status, created_at, expires_at,
          claimed_until)
        select ${other.organizationId}, gen_random_uuid(), 'usage', now(), now(), 'running', now(), now() + interval '7 days', 'infinity'
        from generate_series(1, 10)`,
    )
    const eleventh = await post('/management/export-log', window(), other.apikey)
    expect([eleventh.status, eleventh.headers.get('retry-after')]).toEqual([429, '60'])
  })

  it('makes archives that are deleted after a week', async () => {
    const id = await exported('usage')
    expect(Date.parse((await archive(id)).expires_at) - Date.parse((await archive(id)).created_at)).toBe(7 * 864e5)
    await rows((sql) => sql`update keystride.export_archive set expires_at = now() where id = ${id}`)
    expect(await archive(id)).toBeUndefined()
    expect((await post('/management/download-archive', { id })).status).toBe(404)
  })

  it('removes the archives that contain a deleted person, and keeps others', async () => {
    const [users, usage] = [await exported('authentications'), await exported('usage')]
    await service.call('DELETE', '/users/bob')
    expect(await archive(users)).toBeUndefined()
    expect((await download(users)).status).toBe(404)
    expect((await archive(usage)).status).toBe('ready')
    const again = await recordsOf(await exported('authentications'))
    expect(again.records.some((row) => row[2] === 'ann')).toBe(true)
    expect(again.text).not.toContain('bob')
    // The newcomer has no attempts, so this archive does not contain the newcomer.
    await service.call('POST', '/users/newcomer')
    const kept = await exported('authentications')
    await service.call('DELETE', '/users/newcomer')
    expect((await archive(kept)).status).toBe('ready')
  })
})
