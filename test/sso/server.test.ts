import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, it } from 'vitest'
import { beginSignIn, CALLBACK, enrolled, openBridge, someone, startBridge, unlock } from './bridge.js'

const { world, bridge } = await openBridge()

/** The bytes that come back for a request with this target. */
async function answerTo(target: string): Promise<string> {
  const socket = connect(bridge.port, 'localhost')
  socket.write(`GET ${target} HTTP/1.1\r\nhost: bridge\r\nconnection: close\r\n\r\n`)
  return text(socket)
}

it('a request that cannot be read is the fault of its sender, and no error of the bridge', async () => {
  expect(await answerTo('//')).toMatch(/^HTTP\/1.1 400 /)
  const form = new URLSearchParams({ x: 'x'.repeat(9_000_000) })
  const large = await fetch(`${bridge.issuer}/interaction/x`, { method: 'POST', body: form })
  expect([large.status, await large.text()]).toEqual([413, 'the form is too large\n'])
  const gone = connect(bridge.port, 'localhost')
  const head = 'content-type: application/x-www-form-urlencoded\r\ncontent-length: 9\r\n'
  gone.write(`POST /interaction/x HTTP/1.1\r\nhost: bridge\r\n${head}\r\nx=`)
  gone.destroySoon()
  await once(gone, 'close')
  expect((await fetch(`${bridge.issuer}/livez`)).status).toBe(200)
  expect(bridge.lines.filter(({ level }) => Number(level) >= 50)).toEqual([])
})

it('gives addresses of its own to a request that names another host in its path', async () => {
  const metadata = await answerTo('http://evil.example/.well-known/openid-configuration')
  expect(metadata).toContain(`"issuer":"${bridge.issuer}"`)
  expect(metadata).not.toContain('evil.example')
})

it('names nobody by the parameter of its own if no provider sends hints', async () => {
  for (const keystride_hint of ['no JSON', JSON.stringify({ sub: 'x', name: 'ann' })]) {
    const asked = { client_id: 'app', redirect_uri: CALLBACK, response_type: 'code', scope: 'openid', keystride_hint }
    const query = new URLSearchParams({ ...asked, code_challenge: 'x'.repeat(43), code_challenge_method: 'S256' })
    const { headers } = await fetch(`${bridge.issuer}/auth?${query}`, { redirect: 'manual' })
    expect(headers.get('location')).toMatch(/^http:\/\/localhost:9\/callback\?error=invalid_request&/)
  }
})

it('judges a person by the address that the proxy has seen, however it is written, or by none', async () => {
  const behind = await startBridge(world.service, world.mail.port, {
    settings: { proxies: 1 },
    people: [someone('ria')],
  })
  const who = await enrolled(world, behind, 'ria', 61)
  const seen = async (forwarded: string) => {
    await unlock(world.service, 'ria')
    const { visitor } = await beginSignIn(behind, 'ria')
    visitor.headers['x-forwarded-for'] = forwarded
    await visitor.types(who)
    const { json } = await world.service.dashboard('GET', '/authentications?user_ref=ria&limit=1')
    return json.data[0].ip
  }
  for (const [forwarded, ip] of [
    ['198.51.100.9, 203.0.113.7:51008', '203.0.113.7'],
    ['[2001:db8::1]:4711', '2001:db8:0:0:0:0:0:1'],
    ['[2001:db8::2]', '2001:db8:0:0:0:0:0:2'],
    ['fe80::1%eth0', 'fe80:0:0:0:0:0:0:1'],
    ['::ffff:203.0.113.8', '203.0.113.8'],
    ['203.0.113.7, unknown', null],
  ] as const)
    expect([forwarded, await seen(forwarded)]).toEqual([forwarded, ip])
  expect(['127.0.0.1', '0:0:0:0:0:0:0:1']).toContain(await seen(''))
  const lines = behind.lines.filter(({ msg }) => String(msg).startsWith('X-Forwarded-For'))
  expect(lines.map(({ level, msg }) => [level, msg])).toEqual([
    [40, 'X-Forwarded-For names no address, so a sign-in is judged without one: "unknown"'],
  ])
  await behind.close()
})
