import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openGeography } from '../../src/storage/geography-files.js'
import { mmdb } from './mmdb.js'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'keystride-geography-'))
})
afterAll(() => rmSync(folder, { recursive: true }))
const file = (name: string, content: Uint8Array | string): string => {
  writeFileSync(join(folder, name), content)
  return join(folder, name)
}
const place = (latitude: number, longitude: number, more: object = {}) => ({
  country: { iso_code: 'FR' },
  city: { names: { en: 'Paris' } },
  location: { latitude: { double: latitude }, longitude: { double: longitude }, ...more },
})

describe("the operator's files", () => {
  it('give the place of an address, with the database’s accuracy, and its network', () => {
    const geography = openGeography({
      places: file(
        'places.mmdb',
        mmdb('City', {
          '203.0.113.0/24': place(48.8566, 2.3522, { accuracy_radius: 20 }),
          '198.51.100.0/25': place(1, -2),
        }),
      ),
      networks: file(
        'networks.mmdb',
        mmdb('ASN', { '203.0.0.0/16': { autonomous_system_number: 64500, autonomous_system_organization: 'Example' } }),
      ),
      anonymizers: file('anonymizers.txt', '# exits\n198.51.100.0/24 # one\n\n2001:db8::/32\n'),
    })
    expect(geography.look('203.0.113.7')).toEqual({
      place: { latitude: 48.8566, longitude: 2.3522, accuracyKm: 20, country: 'FR', city: 'Paris' },
      network: { asn: 64500, organization: 'Example' },
      anonymizer: false,
    })
    expect(geography.look('198.51.100.1')).toMatchObject({
      place: { longitude: -2, accuracyKm: 100 },
      network: null,
      anonymizer: true,
    })
    expect(geography.look('198.51.100.200').place).toBeNull()
    expect(geography.look('2001:db8:0:0:0:0:0:1').anonymizer).toBe(true)
  })

  it('give null, not false, if absent', () => {
    const geography = openGeography({ places: null, networks: null, anonymizers: null })
    expect(geography.look('203.0.113.7')).toEqual({ place: null, network: null, anonymizer: null })
  })

  it('stop the start with an error that names them, if they cannot be read', () => {
    const none = { places: null, networks: null, anonymizers: null }
    expect(() => openGeography({ ...none, places: file('bad.mmdb', 'nothing') })).toThrow('bad.mmdb is no MMDB file')
    expect(() => openGeography({ ...none, anonymizers: file('bad.txt', '1.2.3.4\nhere') })).toThrow('bad.txt, line 2')
  })
})
