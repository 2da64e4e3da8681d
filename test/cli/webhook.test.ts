import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hostList } from '../../src/domain/alert-host.js'
import { sendWebhook } from '../../src/jobs/channels/webhook.js'
import { keystrideHere } from '../harness/command.js'
import { until } from '../harness/patience.js'
import { certificate, certificateKey } from '../servers/certificate.js'
import { startChild } from '../servers/child.js'

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const command = fileURLToPath(new URL('../../bin/keystride.mjs', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'keystride-webhook-'))
const running: ChildProcess[] = []
beforeAll(() => {
  writeFileSync(join(folder, 'cert.pem'), certificate)
  writeFileSync(join(folder, 'key.pem'), certificateKey)
})
afterAll(() => {
  for (const one of running) one.kill()
  rmSync(folder, { recursive: true })
})

/** Starts the listener on a free port. */
async function listening(...more: string[]) {
  const child = startChild(process.execPath, [command, 'webhook', 'listen', '--port', '0', ...more], {
    env: { ...process.env, KEYSTRIDE_WEBHOOK_SECRET: SECRET },
  })
  running.push(child)
  const said = { stdout: '', stderr: '' }
  child.stdout.on('data', (part) => {
    said.stdout += part
  })
  child.stderr.on('data', (part) => {
    said.stderr += part
  })
  await until(async () => said.stderr.includes('listening on '))
  const url = /https?:\/\/localhost:\d+\//.exec(said.stderr)?.[0] ?? ''
  return { child, url, lines: () => said.stdout.split('\n').slice(0, -1) }
}

/** A webhook that the library of the specification has signed. */
function signed(id: string, body: string, { secret = SECRET, at = new Date() } = {}) {
  const headers = {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': new Webhook(secret).sign(id, at, body),
  }
  return { method: 'POST', headers, body }
}

const BODY = JSON.stringify({ type: 'alert.bot', timestamp: '2026-11-21T00:00:00.000Z', data: { text: 'A machine.' } })

const OTHER = `whsec_${Buffer.alloc(32, 8).toString('base64')}`
const tenMinutes = (direction: 1 | -1) => ({ at: new Date(Date.now() + direction * 600_000) })

describe('keystride webhook listen', () => {
  it('prints each webhook as verified, or refused with the reason', async () => {
    const { url, lines, child } = await listening()
    for (const [request, status] of [
      [signed('one', BODY), 204],
      [signed('one', BODY), 204],
      [signed('two', BODY, { secret: OTHER }), 401],
      [{ ...signed('two', BODY), body: BODY.replace('bot', 'bat') }, 401],
      [signed('two', BODY, tenMinutes(-1)), 401],
      [signed('two', BODY, tenMinutes(1)), 401],
      [{ method: 'POST', body: BODY }, 401],
      [{ method: 'GET' }, 405],
      [{ method: 'POST', body: 'x'.repeat(1_000_001) }, 413],
      // A refused try does not use up the id.
      [signed('two', '\u001b[2Jnot JSON\n'), 204],
    ] as const)
      expect([request, (await fetch(url, request)).status]).toEqual([request, status])
    await until(async () => lines().length === 8)
    const [first = '', ...rest] = lines()
    expect(first).toMatch(/^20\S+Z verified id=one alert\.bot 2026-11-21T00:00:00\.000Z A machine\.$/)
    expect(rest.map((line) => /verified|refused \((repeated|bad|timestamp|not all)/.exec(line)?.[0])).toEqual([
      'refused (repeated',
      'refused (bad',
      'refused (bad',
      'refused (timestamp',
      'refused (timestamp',
      'refused (not all',
      'verified',
    ])
    child.kill('SIGINT')
    await until(async () => child.exitCode !== null)
    expect(child.exitCode).toBe(0)
  })

  it('prints what the service sends by https, as JSON too', async () => {
    const files = ['--cert', join(folder, 'cert.pem'), '--key', join(folder, 'key.pem')]
    const { url, lines } = await listening('--json', ...files)
    const hosts = hostList(['localhost'])
    if ('unreadable' in hosts) throw new Error('the list cannot be read')
    const needs = { hosts, closedPorts: new Set<number>(), ca: certificate, deadlineMs: 60_000, fullRefPatterns: 10 }
    const event = { kind: 'bot', at: 0, userRef: 'zoë\u009b2J', memberRef: null, details: {} } as const
    const message = { id: 'one', organizationId: 'org', event, test: null }
    expect(await sendWebhook(needs, { url }, SECRET, { ...message, now: Date.now() })).toBe('delivered')
    await until(async () => lines().length === 1)
    const [line = ''] = lines()
    expect(line).toMatch(/^[\x20-\x7e]+$/)
    expect(JSON.parse(line)).toMatchObject({
      id: 'one',
      refused: null,
      body: { type: 'alert.bot', data: { userRef: 'zoë\u009b2J' } },
    })
  })

  it('accepts and refuses the same as the check in docs/webhooks.md', async () => {
    const page = readFileSync(fileURLToPath(new URL('../../docs/webhooks.md', import.meta.url)), 'utf8')
    writeFileSync(join(folder, 'verify.mjs'), /```js verify\.mjs\n([\s\S]*?)```/.exec(page)?.[1] ?? '')
    const { isAuthentic } = await import(join(folder, 'verify.mjs'))
    const { headers, body } = signed('one', BODY)
    const rotated = { ...headers, 'webhook-signature': `v1,x ${headers['webhook-signature']}` }
    expect(isAuthentic(headers, body, SECRET)).toBe(true)
    expect(isAuthentic(rotated, Buffer.from(body), SECRET)).toBe(true)
    for (const [given, text, secret] of [
      [headers, body, OTHER],
      [headers, `${body} `, SECRET],
      [{ ...headers, 'webhook-id': 'two' }, body, SECRET],
      [{ ...headers, 'webhook-timestamp': undefined }, body, SECRET],
      [{}, body, SECRET],
      [signed('one', BODY, tenMinutes(-1)).headers, body, SECRET],
    ])
      expect([given, isAuthentic(given, text, secret)]).toEqual([given, false])
  })

  it.each<[args: string[], says: string]>([
    [[], "'--port <n>'"],
    [['--port', 'x'], 'wanted a port'],
    [['--port', '0', '--secret', 'whsec_short'], 'KEYSTRIDE_WEBHOOK_SECRET: must be'],
    [['--port', '0', '--secret', SECRET, '--cert', 'x.pem'], 'need each other'],
  ])('reports options that it cannot use: %j', async (args, says) => {
    const { status, stderr } = await keystrideHere({})('webhook', 'listen', ...args)
    expect([status, stderr]).toEqual([2, expect.stringContaining(says)])
    expect(stderr).not.toContain('short')
  })
})
