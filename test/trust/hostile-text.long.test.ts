import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { EXPORT_COLUMNS } from '../../src/domain/export.js'
import { syslogFrame, syslogLine } from '../../src/domain/syslog.js'
import { createExportFlows } from '../../src/flows/insight/exports.js'
import { createExporter } from '../../src/jobs/export-log.js'
import { jsonLog } from '../../src/process/log.js'
import { createUuidV7 } from '../../src/process/new-id.js'
import { createKeyWrap } from '../../src/storage/crypto/key-wrap-aes.js'
import { createVault } from '../../src/storage/crypto/vault-aes.js'
import { givenKeys } from '../../src/storage/key-ring.js'
import { connectPostgres, type Database } from '../../src/storage/postgres/connection/client.js'
import { postgresExports } from '../../src/storage/postgres/insight/exports.js'
import { csvRecords, unzipped } from '../api/dashboard/archive-file.js'
import { type FreshDatabase, freshDatabase } from '../servers/database.js'
import { organization } from '../storage/fixtures.js'
import { figure } from './figure.js'
import { hostileTexts } from './hostile-text.js'

const newId = createUuidV7(Date.now)
const TEXTS = hostileTexts(10_000, 18)
/** An exporter writes no text of its own that begins with one of these. */
const FORMULA = /^[=+\-@\t\r\n\0\uff0b\uff0d\uff1d\uff20]/

it('hostile text stays inside one log line, which is one JSON object', () => {
  let lines = 0
  let others = 0
  let now: { text: string; said: string[] } = { text: '', said: [] }
  const log = jsonLog('info', (line) => {
    lines++
    const parsed = JSON.parse(line) as { text: string; msg: string; err: { message: string } }
    now.said = [parsed.text, parsed.msg, parsed.err.message]
    if (line.indexOf('\n') !== line.length - 1) others++
  })
  for (const text of TEXTS) {
    now = { text, said: [] }
    const before = lines
    log.warn({ text, [text]: text, err: new Error(text) }, text)
    // A lone surrogate is written as an escape and read back unchanged.
    if (lines !== before + 1 || now.said.some((said) => said !== text)) others++
  }
  figure('T18', `${others} of ${TEXTS.length} log lines not one object of what was said`, '0', others === 0)
})

it('hostile text forges no syslog frame and stays inside its own', () => {
  const one = { facility: 'auth', appName: 'keystride', at: 0, kind: 'bot' } as const
  const parts = [/^<36>1 1970-01-01T00:00:00\.000Z - keystride - bot \[keystride@32473/]
  const whole = new RegExp(
    `${parts[0]?.source} user="(?:[^"\\\\\\]]|\\\\.)*" member="(?:[^"\\\\\\]]|\\\\.)*"\\] [\\x20-\\x7e]*$`,
  )
  const stream = TEXTS.map((text) =>
    syslogFrame(syslogLine({ ...one, parameters: { user: text, member: text }, text })),
  ).join('')
  let [frames, odd] = [0, 0]
  for (let rest = stream; rest !== ''; frames++) {
    const length = Number(/^([1-9]\d*) /.exec(rest)?.[1] ?? Number.NaN)
    const begin = String(length).length + 1
    if (!whole.test(rest.slice(begin, begin + length))) odd++
    rest = Number.isNaN(length) ? '' : rest.slice(begin + length)
  }
  const forged = Math.abs(frames - TEXTS.length)
  figure('T18', `${forged} frames forged of ${TEXTS.length}, ${odd} misshapen`, '0 and 0', forged + odd === 0)
})

describe('hostile text in an export', () => {
  let fresh: FreshDatabase
  let database: Database
  beforeAll(async () => {
    fresh = await freshDatabase()
    database = connectPostgres({ url: fresh.url, max: 2, patience: 10 })
  })
  afterAll(async () => {
    await database.close()
    await fresh.drop()
  })

  it('stays one cell and is no formula', async () => {
    const organizationId = await organization(database)
    const keyWrap = createKeyWrap(givenKeys(Buffer.alloc(32, 7), []))
    const wrapped = keyWrap.wrapNew(organizationId)
    const vault = createVault({ keyWrap, wrappedKeyOf: async () => wrapped })
    const columns = EXPORT_COLUMNS.logs.length
    async function* rows() {
      for (let at = 0; at < TEXTS.length; at += columns) yield [TEXTS.slice(at, at + columns)]
    }
    const exports = { ...postgresExports(database), rows }
    const [id, now] = [newId(), Date.now()]
    const window = { from: now - 1000, to: now + 1000 }
    await exports.add(organizationId, { id, kind: 'logs', window, createdAt: now, expiresAt: now + 60_000 }, 10)
    await createExporter({ exports, vault })(organizationId, id, new AbortController().signal)
    const flows = createExportFlows({ exports, vault, jobs: { send: async () => true }, newId, now: Date.now })
    const csv = unzipped((await flows.download(organizationId, id)).bytes).content.toString('utf8')
    const [head, ...records] = csvRecords(csv)
    expect(head).toEqual(EXPORT_COLUMNS.logs)
    const cells = records.flat()
    const formulas = cells.filter((cell) => FORMULA.test(cell)).length
    // UTF-8 cannot hold half a surrogate pair; it becomes the replacement character.
    const kept = TEXTS.map((text) => Buffer.from(text).toString('utf8'))
    const altered = kept.filter((text, i) => cells[i] !== text && cells[i] !== `'${text}`).length
    const found = `${formulas} formulas in ${cells.length} cells, ${altered} altered or moved`
    figure('T18', found, '0 and 0', cells.length === TEXTS.length && formulas + altered === 0)
  })
})
