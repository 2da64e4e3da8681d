import { describe, expect, it } from 'vitest'
import { completedUri, mayRedirect, redirectOrigin, redirectUri } from '../../src/domain/redirect-uri.js'
import { figure } from '../harness/figure.js'

// biome-ignore format: many short cases, some to a line
const REFUSED = [
  'javascript:alert(1)', 'JaVaScRiPt://example.com/%0aalert(1)', 'javascript://localhost/https://example.com/%0aalert(1)', 'data:text/html,x',
  'ftp://example.com/', 'ftp://localhost/https://example.com/', 'file:///etc/passwd', 'blob:https://example.com/1', 'http://example.com/',
  'http://localhost.evil.example/', 'http://127.0.0.1.evil.example/', 'http://[::ffff:127.0.0.1]/', 'http://0.0.0.0/', 'http://xlocalhost/', 'http://localhostx/',
  '//example.com/', '/relative', 'https:example.com', 'https:/example.com', 'https:///example.com', 'https:\\\\example.com', '\\\\evil.example',
  'https://example.com\\@evil.example/', 'https://user@evil.example/', 'https://user:word@evil.example/', 'https://@evil.example/', 'https://example.com@evil.example/',
  'https://example.com/#fragment', 'https://example.com/#', 'https://exa mple.com/', ' https://example.com/', 'https://example.com/ ',
  'https://example.com/\r\nLocation: https://evil.example/', 'https://example.com/\tx', 'https://ex\tample.com/', 'https://exämple.com/', 'https://example。com/',
  'https://example.com:99999/', 'https://example.com:x/', 'https://%2e/', 'https://exam%70le.com/', 'https://', 'https://?x', '', 'https://[::1',
  `https://example.com/${'a'.repeat(2048)}`,
]
// biome-ignore format: many short cases, some to a line
const JOINTS = ['@', ':@', '%40', '\\@', ':443@', ';@', '#@', '?@', '.', '%2e', '%00.', '\\.', '%0d%0a', '。', '｡']
// biome-ignore format: many short cases, some to a line
const BEFORE_A_HOST = ['//', '///', '\\\\', '/\\', '\\/', '////', 'https:', 'https:/', 'https:///', 'HTTPS:\\\\', '//%09/', '/%2f']
const SCHEMES = ['javascript:', 'data:text/html,', 'vbscript:', 'file://', 'blob:https://example.com/', 'ftp://']
const [GOOD, EVIL] = ['https://example.com', 'https://evil.example']
/** Addresses that look as if they led to `GOOD`, in any spelling. */
const PAYLOADS = [
  ...Array.from({ length: 33 }, (_, code) => String.fromCharCode(code === 32 ? 127 : code)).flatMap((one) => [
    ...[`${one}${EVIL}`, `https:${one}//evil.example`, `${GOOD}${one}.evil.example`],
  ]),
  ...JOINTS.flatMap((one) => [`${GOOD}${one}evil.example`, `${GOOD}${one}evil.example/${GOOD}`]),
  ...BEFORE_A_HOST.map((one) => `${one}evil.example`),
  ...[...SCHEMES, 'ws://', 'wss://'].flatMap((one) => [
    ...[`${one}evil.example`, `${one.toUpperCase()}evil.example`, `${one}//example.com/%0aalert(1)`],
  ]),
  ...['https://xn--exmple-cua.com', 'https://exаmple.com', 'https://[::ffff:93.184.216.34]', 'https://1572395042'],
  ...['https://example', `${GOOD}.`, `${GOOD}:444`, 'http://example.com', 'https://sub.example.com', EVIL],
  ...[`${EVIL}?${GOOD}`, `${EVIL}#${GOOD}`, `${EVIL}/${GOOD}`, `${EVIL}\\@example.com`, `${GOOD}@${EVIL}`],
]

describe('redirect_uri', () => {
  it.each([
    ['https://example.com/done', 'https://example.com/done'],
    ['HTTPS://Example.COM', 'https://example.com/'],
    ['https://example.com:8443/a?b=c%20d', 'https://example.com:8443/a?b=c%20d'],
    ['https://example.com/a/@b', 'https://example.com/a/@b'],
    ['https://xn--bcher-kva.example/', 'https://xn--bcher-kva.example/'],
    ['https://[2001:db8::1]/', 'https://[2001:db8::1]/'],
    ['http://localhost:3000/x', 'http://localhost:3000/x'],
    ['http://127.0.0.1/x', 'http://127.0.0.1/x'],
    ['http://127.1/x', 'http://127.0.0.1/x'],
    ['http://127.10.200.30/x', 'http://127.10.200.30/x'],
    ['http://[::1]:3000/', 'http://[::1]:3000/'],
  ])('accepts %s', (given, kept) => {
    expect(redirectUri(given)).toBe(kept)
  })

  it('is refused unless it is an https address, or an http address of this machine, in plain spelling', () => {
    expect(REFUSED.filter((given) => redirectUri(given) !== null)).toEqual([])
  })

  it('has at most 2,048 characters, as given and as stored', () => {
    const long = (address: string, length: number) => address + 'a'.repeat(length - address.length)
    expect(redirectUri(long('https://example.com/', 2048))).toHaveLength(2048)
    expect(redirectUri(long('https://example.com/', 2049))).toBeNull()
    expect(redirectUri(long('https://example.com:443/', 2049))).toBeNull()
    expect(redirectUri(long('https://example.com?', 2047))).toHaveLength(2048)
    expect(redirectUri(long('https://example.com?', 2048))).toBeNull()
  })

  it('may be any without a list, and with a list only its origins: scheme, host and port', () => {
    expect(mayRedirect('https://example.com/x', [])).toBe(true)
    const list = [GOOD, 'http://localhost:3000']
    expect(mayRedirect('https://example.com/x', list)).toBe(true)
    expect(mayRedirect('http://localhost:3000/', list)).toBe(true)
    const others = ['https://example.com.evil.example/', 'https://example.com:444/', 'https://sub.example.com/']
    expect(others.filter((other) => mayRedirect(other, list))).toEqual([])
  })

  it('is never outside the list, in any spelling', () => {
    const off = PAYLOADS.filter((text) => {
      const address = redirectUri(text)
      if (address === null || !mayRedirect(address, [GOOD])) return false
      return new URL(address).origin !== GOOD || !address.startsWith(`${GOOD}/`)
    })
    const split = PAYLOADS.filter((text) => /[^\x21-\x7e]/.test(completedUri(redirectUri(text) ?? GOOD)))
    const found = `${off.length + split.length} of ${PAYLOADS.length} addresses taken`
    figure('T26', found, '0 of 150, 0', PAYLOADS.length >= 150 && off.length + split.length === 0)
  })

  it('accepts only origins for its list', () => {
    expect(redirectOrigin('https://Example.com/')).toBe(GOOD)
    expect(redirectOrigin('https://example.com:443')).toBe(GOOD)
    for (const other of ['https://example.com/a', 'https://example.com/?a', 'http://example.com', '*'])
      expect([other, redirectOrigin(other)]).toEqual([other, null])
  })

  it('gets status=completed once, and is otherwise unchanged', () => {
    expect(completedUri('https://example.com/')).toBe('https://example.com/?status=completed')
    expect(completedUri('https://example.com/?')).toBe('https://example.com/?status=completed')
    expect(completedUri('https://example.com/?a=b%20c')).toBe('https://example.com/?a=b%20c&status=completed')
    expect(completedUri('https://example.com/?status=pending&a=b')).toBe('https://example.com/?status=completed&a=b')
    expect(completedUri('https://example.com/?a=b%20c+d&st%61tus=1&x&&status=2&status')).toBe(
      'https://example.com/?a=b%20c+d&status=completed&x&',
    )
  })
})
