import { describe, expect, it } from 'vitest'
import { addressPrefix, addressRange, addressSet, canonicalAddress, writtenAddress } from '../../src/base/address.js'

describe('an address', () => {
  it.each([
    ['203.0.113.7', '203.0.113.7'],
    ['2001:DB8::1', '2001:db8:0:0:0:0:0:1'],
    ['::', '0:0:0:0:0:0:0:0'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['64:ff9b::192.0.2.33', '64:ff9b:0:0:0:0:c000:221'],
  ])('%s is %s', (text, canonical) => expect(canonicalAddress(text)).toBe(canonical))

  it('is none in any other form', () => {
    const v4 = ['', '1.2.3', '1.2.3.256', '01.2.3.4']
    const v6 = ['1:2:3', '1::2::3', '1:2:3:4:5:6:7:8:9', '::1.2.3', 'fe80::1%eth0', 'g::', '1:2:3:4:5:6:7::8']
    expect([...v4, ...v6].filter((text) => canonicalAddress(text) !== null)).toEqual([])
  })

  it.each([
    ['203.0.113.7', '203.0.113.7'],
    [' 203.0.113.7:51008 ', '203.0.113.7'],
    ['[203.0.113.7]:80', '203.0.113.7'],
    ['2001:DB8::1', '2001:db8:0:0:0:0:0:1'],
    ['[2001:db8::1]', '2001:db8:0:0:0:0:0:1'],
    ['[2001:db8::1]:4711', '2001:db8:0:0:0:0:0:1'],
    ['fe80::1%eth0', 'fe80:0:0:0:0:0:0:1'],
    ['[fe80::1%25eth0]:80', 'fe80:0:0:0:0:0:0:1'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['[::ffff:203.0.113.7%eth0]:80', '203.0.113.7'],
  ])('that a proxy writes as %s is %s', (text, canonical) => expect(writtenAddress(text)).toBe(canonical))

  it('is none in other text of a proxy', () => {
    const none = [
      '',
      ':80',
      'unknown',
      '_hidden',
      'localhost',
      'proxy:80',
      '[]',
      '[]:1',
      '[::1',
      '::1]',
      '[::1]x',
      '[::1]:x',
      '1.2.3.4:',
    ]
    const more = [
      '1.2.3.4:123456',
      '1.2.3.4:80:80',
      '1.2.3:80',
      '[[::1]]',
      'for=1.2.3.4',
      '"1.2.3.4"',
      '%eth0',
      '2001:db8::1:51008',
    ]
    expect([...none, ...more].filter((text) => writtenAddress(text) !== null)).toEqual([])
  })

  it('has a prefix of /24, or of /48', () => {
    expect(addressPrefix('203.0.113.7')).toBe('203.0.113.0/24')
    expect(addressPrefix('2001:db8:0:0:0:0:0:1')).toBe('2001:db8:0::/48')
  })
})

describe('ranges of addresses', () => {
  const inside = addressSet(
    ['192.0.2.0/24', '198.51.100.7', '2001:db8::/32'].flatMap((text) => addressRange(text) ?? []),
  )
  it('contain addresses with their leading bits, of their own family only', () => {
    expect(['192.0.2.255', '198.51.100.7', '2001:db8:ffff:0:0:0:0:1'].map(inside)).toEqual([true, true, true])
    expect(['192.0.3.0', '198.51.100.8', '2001:db9:0:0:0:0:0:1'].map(inside)).toEqual([false, false, false])
  })
  it('are refused if invalid', () => {
    expect(['1.2.3.4/33', '1.2.3.4/x', 'x/8', '1.2.3.4/8/8', '::/129'].map(addressRange)).toEqual(Array(5).fill(null))
  })
  it('of length 0 contain every address', () => {
    expect(addressSet([addressRange('0.0.0.0/0') ?? never()])('203.0.113.7')).toBe(true)
  })
})

function never(): never {
  throw new Error('a range')
}
