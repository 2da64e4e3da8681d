import { expect, it } from 'vitest'
import { seededRandom } from '../../src/calibration/random.js'
import { EXPORT_COLUMNS } from '../../src/domain/export.js'
import { syslogFrame, syslogLine } from '../../src/jobs/channels/syslog-line.js'
import { createExporter } from '../../src/jobs/export-log.js'
import { jsonLog } from '../../src/process/log.js'
import type { ExportStore } from '../../src/storage/exports.js'
import type { Vault } from '../../src/storage/vault.js'
import { csvRecords, unzipped } from '../api/dashboard/archive-file.js'
import { figure } from '../harness/figure.js'
import { randomOn } from '../simulator/scheduler.js'

const PIECES = [
  ...['\r\n', '\n', '\r', '\0', '\t', '\u2028', '\u2029', '\u0085', '\u001b[2J', '\u007f', '\ud800', '\ufeff'],
  ...['=1+1', '+1', '-1', '@SUM(A1)', '=HYPERLINK("http://evil.example")', '\uff1d1', '|cmd', ',', ';', '"', '""', "'"],
  ...['{"level":50,"msg":"forged"}', '}\n{"msg":"forged"}', '\\', '\\"', '</script>', '<img src=x onerror=alert(1)>'],
  ...['<13>1 - - forged - - - -', ' 12 <13>1 - - forged', '"]', ']', '[x@1 a="b"]', 'Bcc: z@evil.example', '%s%n'],
  ...['$(x)', 'é', '日本', '\u{1f600}', 'ann', ' ', '0'],
]
const { next: random, below, pick } = randomOn(seededRandom(18))
const piece = () => (random() < 0.85 ? pick(PIECES) : String.fromCodePoint(below(0x300)))
/** Texts that try to break out of a line, a cell or a frame. */
const TEXTS = Array.from({ length: 10_000 }, () => Array.from({ length: 1 + below(5) }, piece).join(''))
/** An exporter writes no text of its own that begins with one of these. */
const FORMULA = /^[=+\-@\t\r\n\0\uff0b\uff0d\uff1d\uff20]/

it('hostile text stays inside one log line, which is one JSON object', () => {
  const lines: string[] = []
  const log = jsonLog('info', (line) => lines.push(line))
  for (const text of TEXTS) log.warn({ text, [text]: text, err: new Error(text) }, text)
  const others = lines.filter((line, n) => {
    const parsed = JSON.parse(line) as { text: string; msg: string; err: { message: string } }
    // A lone surrogate is written as an escape and read back unchanged.
    const said = [parsed.text, parsed.msg, parsed.err.message]
    return line.indexOf('\n') !== line.length - 1 || said.some((one) => one !== TEXTS[n])
  }).length
  const isOk = lines.length === TEXTS.length && others === 0
  figure('T18', `${others} of ${lines.length} log lines wrong`, '0', isOk)
})

it('hostile text forges no syslog frame and stays inside its own', () => {
  const one = { facility: 'auth', appName: 'keystride', at: 0, kind: 'bot' } as const
  const head = String.raw`^<36>1 1970-01-01T00:00:00\.000Z - keystride - bot \[keystride@32473`
  const whole = new RegExp(`${head} user="(?:[^"\\\\\\]]|\\\\.)*" member="(?:[^"\\\\\\]]|\\\\.)*"\\] [\\x20-\\x7e]*$`)
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
  figure('T18', `${forged + odd} of ${TEXTS.length} frames wrong`, '0 and 0', forged + odd === 0)
})

it('hostile text in an export stays one cell and is no formula', async () => {
  const columns = EXPORT_COLUMNS.logs.length
  const written: Uint8Array[] = []
  // Sound: the exporter calls nothing else.
  const exports = {
    claim: async () => ({ kind: 'logs', window: {}, attempt: 1 }),
    async *rows() {
      for (let at = 0; at < TEXTS.length; at += columns) yield [TEXTS.slice(at, at + columns)]
    },
    append: async (...[, , , bytes]: Parameters<ExportStore['append']>) => written.push(bytes) > 0,
    finish: async () => true,
  } as unknown as ExportStore
  const vault = { sealPiece: async (...[, , bytes]: Parameters<Vault['sealPiece']>) => bytes } as unknown as Vault
  await createExporter({ exports, vault })('acme', 'one', new AbortController().signal)
  const [head, ...records] = csvRecords(unzipped(Buffer.concat(written)).content.toString('utf8'))
  expect(head).toEqual(EXPORT_COLUMNS.logs)
  const cells = records.flat()
  const formulas = cells.filter((cell) => FORMULA.test(cell)).length
  // UTF-8 cannot hold half a surrogate pair; it becomes the replacement character.
  const kept = TEXTS.map((text) => Buffer.from(text).toString('utf8'))
  const altered = kept.filter((text, i) => cells[i] !== text && cells[i] !== `'${text}`).length
  const found = `${formulas + altered} of ${cells.length} cells wrong`
  figure('T18', found, '0 and 0', cells.length === TEXTS.length && formulas + altered === 0)
})
