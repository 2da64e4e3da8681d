import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hostList } from '../../src/domain/alert-host.js'
import { sendWebhook } from '../../src/jobs/channels/webhook.js'
import { until } from '../patience.js'
import { certificate, certificateKey } from '../servers/certificate.js'
import { startChild } from '../servers/child.js'
import { keystrideWith } from './command.js'

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

describe('keystride webhook listen', () => {
  it('prints each webhook as verified, or refused with the reason', async () => {
    const { url, lines, child } = await listening()
    const send = async (request: RequestInit) => (await fetch(url, request)).status
    expect(await send(signed('one', BODY))).toBe(204)
    expect(await send(signed('one', BODY))).toBe(204)
    const other = `whsec_${Buffer.alloc(32, 8).toString('base64')}`
    expect(await send(signed('two', BODY, { secret: other }))).toBe(401)
    expect(await send({ ...signed('two', BODY), body: BODY.replace('bot', 'bat') })).toBe(401)
    for (const off of [-301_000, 302_000])
      expect(await send(signed('two', BODY, { at: new Date(Date.now() + off) }))).toBe(401)
    expect(await send({ method: 'POST', body: BODY })).toBe(401)
    expect(await send({ method: 'GET' })).toBe(405)
    expect(await send({ method: 'POST', body: 'x'.repeat(1_000_001) })).toBe(413)
    // The refused tries did not take the id.
    expect(await send(signed('two', '\u001b[2Jnot JSON\n'))).toBe(204)
    await until(async () => lines().length === 8)
    const [first = '', ...rest] = lines()
    expect(first).toMatch(/^20\S+Z verified id=one alert\.bot 2026-11-21T00:00:00\.000Z A machine\.$/)
    expect(rest.map((line) => /verified|refused \(.*\)/.exec(line)?.[0])).toEqual([
      'refused (repeated id)',
      'refused (bad signature)',
      'refused (bad signature)',
      expect.stringMatching(/^refused \(timestamp off by 30[12] s\)$/),
      expect.stringMatching(/^refused \(timestamp off by 30[12] s\)$/),
      'refused (not all of webhook-id, webhook-timestamp and webhook-signature are there)',
      'verified',
    ])
    child.kill('SIGINT')
    await until(async () => child.exitCode !== null)
    expect(child.exitCode).toBe(0)
  })

  it('prints what the service sends by https, as JSON too', async () => {
    const { url, lines } = await listening(
      '--json',
      '--cert',
      join(folder, 'cert.pem'),
      '--key',
      join(folder, 'key.pem'),
    )
    const hosts = hostList(['localhost'])
    if ('unreadable' in hosts) throw new Error('the list cannot be read')
    const needs = { hosts, closedPorts: new Set<number>(), ca: certificate, deadlineMs: 5000, fullRefPatterns: 10 }
    const event = { kind: 'bot', at: 0, userRef: 'zoë\u009b2J', memberRef: null, details: {} } as const
    const message = { id: 'one', organizationId: 'org', event, test: null }
    expect(await sendWebhook(needs, { url }, SECRET, message, Date.now())).toBe('delivered')
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
    const other = `whsec_${Buffer.alloc(32, 8).toString('base64')}`
    const { headers, body } = signed('one', BODY)
    expect(isAuthentic(headers, body, SECRET)).toBe(true)
    const rotated = { ...headers, 'webhook-signature': `v1,x ${headers['webhook-signature']}` }
    expect(isAuthentic(rotated, Buffer.from(body), SECRET)).toBe(true)
    expect(isAuthentic(headers, body, other)).toBe(false)
    expect(isAuthentic(headers, `${body} `, SECRET)).toBe(false)
    expect(isAuthentic({ ...headers, 'webhook-id': 'two' }, body, SECRET)).toBe(false)
    expect(isAuthentic({ ...headers, 'webhook-timestamp': undefined }, body, SECRET)).toBe(false)
    expect(isAuthentic({}, body, SECRET)).toBe(false)
    const late = signed('one', BODY, { at: new Date(Date.now() - 301_000) })
    expect(isAuthentic(late.headers, body, SECRET)).toBe(false)
  })

  it('reports options that it cannot use, and shows its help', async () => {
    const listen = (env: Record<string, string>, ...args: string[]) => keystrideWith(env)('webhook', 'listen', ...args)
    expect(await listen({})).toMatchObject({ status: 2, stderr: expect.stringContaining("'--port <n>'") })
    expect(await listen({}, '--port', 'x')).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('wanted a port'),
    })
    const noSecret = await listen({ KEYSTRIDE_WEBHOOK_SECRET: 'whsec_short' }, '--port', '0')
    expect(noSecret).toMatchObject({ status: 2, stderr: expect.stringContaining('KEYSTRIDE_WEBHOOK_SECRET: must be') })
    expect(noSecret.stderr).not.toContain('short')
    const half = await listen({}, '--port', '0', '--secret', SECRET, '--cert', 'x.pem')
    expect(half).toMatchObject({ status: 2, stderr: expect.stringContaining('need each other') })
    expect((await listen({}, '--help')).stdout).toContain('Usage: keystride webhook listen')
  })
})
