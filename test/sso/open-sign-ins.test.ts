import { describe, expect, it } from 'vitest'
import { createOpenSignIns, OPEN_SIGN_INS } from '../../src/sso/open-sign-ins.js'
import { databaseOf } from '../servers/database.js'
import { CALLBACK, openBridge, someone, Visitor } from './bridge.js'

const LIFETIME_MS = 1000
const KB = 1000

const NONE = { count: Number.POSITIVE_INFINITY, bytes: Number.POSITIVE_INFINITY }

function world(limits = { address: { count: 10, bytes: 100 * KB }, all: NONE }) {
  let now = 0
  const signIns = createOpenSignIns({ now: () => now, lifetimeMs: LIFETIME_MS, limits })
  let next = 0
  /** Begins sign-ins until one is refused. Returns their number and the reason of the refusal. */
  const fill = (address: string | null, bytes = KB, most = 1000): [number, string | null] => {
    for (let n = 0; n < most; n++) {
      const begun = signIns.begin(address, bytes)
      if (typeof begun === 'string') return [n, begun]
      begun.settle(`u${next++}`)
    }
    return [most, null]
  }
  const pass = (ms: number): void => {
    now += ms
  }
  return { signIns, fill, pass }
}

describe('the sign-ins that are open', () => {
  it('are limited by address, in number and in bytes, and end with their lifetime', () => {
    const { fill, pass } = world()
    expect(fill('192.0.2.1')).toEqual([10, 'address'])
    expect(fill('192.0.2.2', 30 * KB)).toEqual([3, 'address'])
    pass(LIFETIME_MS - 1)
    expect([fill('192.0.2.1'), fill('192.0.2.2', 30 * KB)]).toEqual([
      [0, 'address'],
      [0, 'address'],
    ])
    pass(1)
    expect([fill('192.0.2.1'), fill('192.0.2.2', 30 * KB)]).toEqual([
      [10, 'address'],
      [3, 'address'],
    ])
  })

  it('count a /64 of IPv6 as one address, and those without an address together', () => {
    const { fill } = world()
    expect(fill('2001:db8:0:1:0:0:0:1', KB, 9)).toEqual([9, null])
    expect(fill('2001:db8:0:1:7:7:7:7')).toEqual([1, 'address'])
    expect(fill('2001:db8:0:2:0:0:0:1', KB, 1)).toEqual([1, null])
    expect(fill(null)).toEqual([10, 'address'])
  })

  it.each([
    ['number', 1, 129],
    ['bytes', 20 * KB, 112],
  ])('leave room for others, until very many addresses take all that they may: in %s', (_, bytes, needed) => {
    const { fill } = world(OPEN_SIGN_INS)
    const taken: number[] = []
    for (let n = 0; taken.at(-1) !== 0; n++) taken.push(fill(`192.0.${n}.1`, bytes)[0])
    expect(taken.slice(0, 20).reduce((sum, one) => sum + one, 0) * bytes).toBeLessThan(
      0.75 * (bytes === 1 ? OPEN_SIGN_INS.all.count : OPEN_SIGN_INS.all.bytes),
    )
    expect(taken.length - 1).toBeGreaterThanOrEqual(needed)
    expect(fill('198.51.100.1', bytes)).toEqual([0, 'all'])
    expect(fill('192.0.1.1', bytes)).toEqual([0, 'address'])
  })

  it('are counted before they have begun, not if they have not, and once if they go on as others', () => {
    const { signIns, fill } = world()
    const reserved = Array.from({ length: 10 }, () => signIns.begin('192.0.2.1', KB))
    expect(fill('192.0.2.1')).toEqual([0, 'address'])
    for (const [n, one] of reserved.entries()) if (typeof one !== 'string') one.settle(n < 5 ? null : `r${n}`)
    expect(fill('192.0.2.1')).toEqual([5, 'address'])
    for (let n = 0; n < 20; n++) {
      const continued = signIns.continue(n === 0 ? 'r5' : `c${n - 1}`, '192.0.2.1')
      signIns.ended(n === 0 ? 'r5' : `c${n - 1}`)
      continued.settle(`c${n}`)
    }
    expect(fill('192.0.2.1')).toEqual([0, 'address'])
    for (const uid of ['r6', 'r6', 'unknown']) signIns.ended(uid)
    expect(fill('192.0.2.1')).toEqual([1, 'address'])
  })
})

describe('requests of strangers', async () => {
  const people = [someone('ann')]
  const { world: whole, bridge } = await openBridge({ settings: { proxies: 1 }, people }, { redisUrl: null })
  const request = (state: string) =>
    `${bridge.issuer}/auth?${new URLSearchParams({
      client_id: 'app',
      redirect_uri: CALLBACK,
      response_type: 'code',
      scope: 'openid',
      code_challenge: 'x'.repeat(43),
      code_challenge_method: 'S256',
      state,
    })}`
  const ask = (from: string, state = 's', headers: Record<string, string> = {}) =>
    fetch(request(state), { redirect: 'manual', headers: { 'x-forwarded-for': from, ...headers } })
  const stored = async () => {
    const [row] = await databaseOf(whole.service).scoped(
      whole.service.organizationId,
      (sql) => sql<{ n: number; bytes: number }[]>`
        select count(*)::int as n, coalesce(sum(octet_length(sealed)), 0)::int as bytes from keystride.sso_artifact`,
    )
    return row ?? { n: 0, bytes: 0 }
  }

  // Regression: each request was kept for half an hour, 7 kB and more, without a limit.
  it('are bounded in number by address, with a page and Retry-After, and not those of other addresses', async () => {
    const before = await stored()
    const { count, bytes } = OPEN_SIGN_INS.address
    for (let n = 0; n < count + 40; n += 40) {
      const answers = await Promise.all(Array.from({ length: 40 }, () => ask('203.0.113.7')))
      await Promise.all(answers.map((one) => one.arrayBuffer()))
      if (n < count - 40) expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([303]))
    }
    const after = await stored()
    expect(after.n - before.n).toBe(count)
    expect(after.bytes - before.bytes).toBeLessThan(bytes)
    const refused = await ask('203.0.113.7', 's', { accept: 'text/html', 'accept-language': 'fr' })
    expect([refused.status, refused.headers.get('retry-after'), refused.headers.get('cache-control')]).toEqual([
      429,
      '60',
      'no-store',
    ])
    expect(await refused.text()).toContain('Trop de connexions sont ouvertes en même temps.')
    const plain = await ask('203.0.113.7')
    expect([plain.status, await plain.text()]).toEqual([429, 'too many sign-ins have begun at this address\n'])
    expect((await ask('203.0.113.8')).status).toBe(303)
    expect(bridge.lines.filter(({ msg }) => String(msg).includes('too many are open at 203.0.113.7'))).toHaveLength(1)
  })

  it('are bounded in bytes by address, and keep no more than is counted', async () => {
    const before = await stored()
    const hard = '\u0000"\u2028'.repeat(500)
    let taken = 0
    for (let refused = 0; refused === 0; ) {
      const answers = await Promise.all(Array.from({ length: 20 }, () => ask('2001:db8::1', hard)))
      for (const { status } of answers) {
        if (status === 303) taken++
        else refused++
        expect([303, 429]).toContain(status)
      }
    }
    const after = await stored()
    expect(after.n - before.n).toBe(taken)
    expect(taken).toBeLessThan(OPEN_SIGN_INS.address.count)
    expect(after.bytes - before.bytes).toBeLessThan(OPEN_SIGN_INS.address.bytes)
    expect((await ask('2001:db8::2', hard)).status).toBe(429)
    expect((await ask('2001:db8:0:1::2', hard)).status).toBe(303)
  })

  it('count no longer once a person has gone back to the application, and a sign-in goes on while others are refused', async () => {
    const begin = async () => {
      const visitor = new Visitor()
      visitor.headers['x-forwarded-for'] = '203.0.113.9'
      await visitor.open(request('s'))
      return visitor
    }
    const first = await begin()
    while ((await ask('203.0.113.9')).status === 303) {
      // The address may begin further sign-ins.
    }
    await first.submit({ action: 'name', name: 'ann' })
    expect(first.title()).toBe('One-time password')
    await first.submit({ action: 'cancel' })
    expect(first.at).toContain(`${CALLBACK}?error=access_denied`)
    expect((await ask('203.0.113.9')).status).toBe(303)
    expect((await begin()).status).toBe(429)
  })
})
