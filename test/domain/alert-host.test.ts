import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalHost, type HostList, hostList, mayAlert, neverReached } from '../../src/domain/alert-host.js'
import { figure } from '../harness/figure.js'

function list(...entries: string[]): HostList {
  const read = hostList(entries)
  if ('unreadable' in read) throw new Error(`cannot read ${read.unreadable}`)
  return read
}
const allowed = (text: string, hosts: HostList) => {
  const host = canonicalHost(text)
  return host !== null && mayAlert(host, hosts)
}

/** Notations of an IPv4 address, also embedded in IPv6 addresses. */
function spellings(address: string): string[] {
  const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number)
  const whole = ((a << 24) | (b << 16) | (c << 8) | d) >>> 0
  const hex = (n: number) => `0x${n.toString(16)}`
  const octal = (n: number) => `0${n.toString(8)}`
  const pair = (x: number, y: number) => ((x << 8) | y).toString(16)
  const low = ((b << 16) | (c << 8) | d) >>> 0
  return [
    address,
    String(whole),
    hex(whole),
    hex(whole).toUpperCase().replace('X', 'x'),
    octal(whole),
    [a, b, c, d].map(hex).join('.'),
    [a, b, c, d].map(octal).join('.'),
    `${hex(a)}.${octal(b)}.${c}.${d}`,
    `${a}.${low}`,
    `${hex(a)}.${hex(low)}`,
    `${a}.${b}.${(c << 8) | d}`,
    `${address}.`,
    `${whole}.`,
    `000${a}.${b}.${c}.${d}`.replace(/^000/, '0x0'),
    `::ffff:${address}`,
    `[::ffff:${address}]`,
    `::FFFF:${pair(a, b)}:${pair(c, d)}`,
    `0:0:0:0:0:ffff:${pair(a, b)}:${pair(c, d)}`,
    `::${address}`,
    `::ffff:0:${address}`,
    `64:ff9b::${address}`,
    `64:ff9b:1::${address}`,
    `2002:${pair(a, b)}:${pair(c, d)}::1`,
    `2001:0:${pair(a, b)}:${pair(c, d)}::1`,
  ]
}

// biome-ignore format: many short cases, some to a line
const FORBIDDEN = ['169.254.169.254', '0.0.0.0', '0.1.2.3', '224.0.0.1', '239.255.255.250', '255.255.255.255', '100.100.100.200']
// biome-ignore format: many short cases, some to a line
const FORBIDDEN_V6 = ['::', 'fe80::1', 'FE80:0::1', 'febf::1', 'ff02::1', 'fd00:ec2::254', '[::]', 'fe80::1%eth0', 'fec0::1']
/** Texts that resemble hosts of the list below and are none. */
// biome-ignore format: many short cases, some to a line
const RESEMBLING = [
  'corp.example', 'evilcorp.example', 'smtp.example.com.evil.example', 'xsmtp.example.com', '11.0.0.1', 'fd13::1', 'smtp.example.com:25', 'user@smtp.example.com',
  'smtp.example.com/x', 'smtp.example.com#', 'smtp.example.com\\', 'smtp.example.com%00', 'smtp.example.com\r\n', 'smtp.example.com ', 'smtp。example。com.evil',
  '１０.0.0.1', '10.0.0.1.evil.example', '10.0.0', '', '.', '..',
]
const EVERYTHING = ['0.0.0.0/0', '::/0', '*.example', ...FORBIDDEN, 'fe80::/10', '2130706433']

describe('addresses that alerts are never sent to', () => {
  const payloads = [...FORBIDDEN.flatMap(spellings), ...FORBIDDEN_V6]

  it('are refused in every spelling, on a list that allows all addresses and names them', () => {
    expect(payloads.length).toBeGreaterThan(150)
    const everything = list(...EVERYTHING)
    const passed = payloads.filter((text) => allowed(text, everything))
    figure('T28', `${passed.length} of ${payloads.length} spellings allowed`, '0', passed.length === 0)
  })

  it('are refused in every spelling, for random addresses of their ranges', () => {
    const forbidden = fc.oneof(
      fc.tuple(fc.constantFrom(0, 224, 239, 240, 255), fc.nat(255), fc.nat(255), fc.nat(255)),
      fc.tuple(fc.constant(169), fc.constant(254), fc.nat(255), fc.nat(255)),
    )
    const all = list('0.0.0.0/0', '::/0')
    fc.assert(
      fc.property(forbidden, (parts) => spellings(parts.join('.')).every((text) => !allowed(text, all))),
      { seed: 1, numRuns: 300 },
    )
  })
})

describe('the list of hosts', () => {
  it('allows nothing if it is empty', () => {
    for (const text of ['localhost', '127.0.0.1', 'smtp.example.com', '10.0.0.1', '::1'])
      expect(allowed(text, list())).toBe(false)
  })

  it('allows a listed address in its spellings, and no other', () => {
    const hosts = list('10.1.2.3')
    const [address, ...others] = spellings('10.1.2.3')
    expect(allowed(address ?? '', hosts)).toBe(true)
    // Some spellings denote the same address; the others embed it in a different IPv6 address.
    for (const text of others) expect([text, allowed(text, hosts)]).toEqual([text, canonicalHost(text) === '10.1.2.3'])
    expect(spellings('10.1.2.4').filter((text) => allowed(text, hosts))).toEqual([])
    expect(spellings('127.0.0.1').filter((text) => allowed(text, hosts))).toEqual([])
  })

  it('allows names, names below a domain, and ranges, and nothing that resembles them', () => {
    const hosts = list('smtp.example.com', '*.corp.example', '10.0.0.0/8', 'fd12::/16')
    const inside = [
      'smtp.example.com',
      'SMTP.Example.COM.',
      'a.corp.example',
      'a.b.corp.example',
      '10.9.9.9',
      'fd12::1',
    ]
    expect(inside.filter((text) => !allowed(text, hosts))).toEqual([])
    expect(RESEMBLING.filter((text) => allowed(text, hosts) && canonicalHost(text) !== '10.0.0.0')).toEqual([])
  })

  it('names the entry that cannot be read', () => {
    for (const entry of ['a b', 'http://x.example', '10.0.0.0/33', '*', '*.10.0.0.1', 'x:25', '']) {
      expect(hostList(['ok.example', entry])).toEqual({ unreadable: entry })
    }
  })

  it('gives every text one canonical spelling, which is stable', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.domain(), fc.ipV4(), fc.ipV6()), (text) => {
        const host = canonicalHost(text)
        return host === null || (canonicalHost(host) === host && /^[a-z0-9._:-]+$/.test(host))
      }),
      { seed: 1, numRuns: 1000 },
    )
  })

  it('treats a text that is no canonical address as forbidden', () => {
    for (const text of ['smtp.example.com', '', '1.2.3', '1.2.3.4.5']) expect(neverReached(text)).toBe(true)
    for (const text of ['10.0.0.1', '127.0.0.1', '0:0:0:0:0:0:0:1', '192.168.1.1'])
      expect(neverReached(text)).toBe(false)
  })
})
