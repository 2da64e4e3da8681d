import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { ExpectedFault } from '../../src/base/expected-fault.js'
import { checkGeography } from '../../src/cli/doctor/geography.js'
import { openGeography } from '../../src/storage/geography-files.js'
import { mmdb } from './mmdb.js'

const folder = mkdtempSync(join(tmpdir(), 'keystride-geography-'))
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

type Files = Parameters<typeof openGeography>[0]
const none: Files = { places: null, networks: null, anonymizers: null }
const noLine = (line: string) => expect.unreachable(line)

describe("the operator's files", () => {
  it('give the place of an address, with the database’s accuracy, and its network', () => {
    const geography = openGeography(
      {
        places: file(
          'places.mmdb',
          mmdb('City', {
            '203.0.113.0/24': place(48.8566, 2.3522, { accuracy_radius: 20 }),
            '198.51.100.0/25': place(1, -2),
          }),
        ),
        networks: file(
          'networks.mmdb',
          mmdb('ASN', {
            '203.0.0.0/16': { autonomous_system_number: 64500, autonomous_system_organization: 'Example' },
          }),
        ),
        anonymizers: file('anonymizers.txt', '# exits\n198.51.100.0/24 # one\n\n2001:db8::/32\n'),
      },
      noLine,
    )
    expect(geography.locate('203.0.113.7')).toEqual({
      place: { latitude: 48.8566, longitude: 2.3522, accuracyKm: 20, country: 'FR', city: 'Paris' },
      network: { asn: 64500, organization: 'Example' },
      anonymizer: false,
    })
    expect(geography.locate('198.51.100.1')).toMatchObject({
      place: { longitude: -2, accuracyKm: 100 },
      network: null,
      anonymizer: true,
    })
    expect(geography.locate('198.51.100.200').place).toBeNull()
    expect(geography.locate('2001:db8:0:0:0:0:0:1').anonymizer).toBe(true)
  })

  it('give null, not false, if absent', () => {
    expect(openGeography(none, noLine).locate('203.0.113.7')).toEqual({ place: null, network: null, anonymizer: null })
  })

  it('find no IPv6 address in a file of IPv4 addresses', () => {
    // The bits 2001:0db8 are those of 32.1.13.184.
    const geography = openGeography(
      { ...none, places: file('v4.mmdb', mmdb('City', { '32.1.0.0/16': place(1, 2) })) },
      noLine,
    )
    expect(geography.locate('32.1.13.184').place).not.toBeNull()
    expect(geography.locate('2001:db8:0:0:0:0:0:1').place).toBeNull()
  })

  it('give null for what a record lacks, and for a value of another type or range', () => {
    const found = (record: object) =>
      openGeography(
        { ...none, places: file('odd.mmdb', mmdb('City', { '203.0.113.0/24': { ...record } })) },
        noLine,
      ).locate('203.0.113.7').place
    const { city: _, country: __, ...bare } = place(1, 2)
    const anywhere = { latitude: 1, longitude: 2, accuracyKm: 100, country: null, city: null }
    for (const more of [
      {},
      { city: { geoname_id: 1 }, country: { geoname_id: 2 } },
      { city: { names: { de: 'Wien' } } },
      { city: { names: { en: 7 } }, country: { iso_code: 7 } },
      { city: { names: { en: 'a\0b' } }, country: { iso_code: 'x'.repeat(280) } },
    ])
      expect(found({ ...bare, ...more }), JSON.stringify(more)).toEqual(anywhere)
    expect(found({ ...bare, location: { ...bare.location, accuracy_radius: 'far' } })).toEqual(anywhere)
    for (const location of [
      {},
      { latitude: { double: 1 } },
      { latitude: 'north', longitude: { double: 2 } },
      { latitude: { double: Number.NaN }, longitude: { double: 2 } },
      { latitude: { double: 91 }, longitude: { double: 2 } },
      { latitude: { double: 1 }, longitude: { double: 1e300 } },
    ])
      expect(found({ location }), JSON.stringify(location)).toBeNull()
    const networks = file('odd-asn.mmdb', mmdb('ASN', { '203.0.113.0/24': { autonomous_system_number: 'AS1' } }))
    expect(openGeography({ ...none, networks }, noLine).locate('203.0.113.7').network).toBeNull()
  })

  it('give null where a file is damaged, and log it once', () => {
    const whole = Buffer.from(mmdb('City', { '198.51.100.0/24': place(1, 2), '203.0.113.0/24': place(3, 4) }))
    const record = whole.lastIndexOf('country')
    const lines: string[] = []
    const geography = openGeography(
      {
        places: file('damaged.mmdb', Buffer.from(whole).fill(0, record, record + 20)),
        networks: file('sound.mmdb', mmdb('ASN', { '203.0.113.0/24': { autonomous_system_number: 1 } })),
        anonymizers: file('sound.txt', '203.0.113.7'),
      },
      (line) => lines.push(line),
    )
    const network = { asn: 1, organization: null }
    for (let n = 0; n < 3; n++)
      expect(geography.locate('203.0.113.7')).toEqual({ place: null, network, anonymizer: true })
    expect(geography.locate('198.51.100.1').place).toMatchObject({ latitude: 1 })
    expect(lines).toEqual([expect.stringMatching(/^GEOIP_DB: .*damaged\.mmdb is damaged: .* signals are null/)])
  })

  it('never throw at a look-up, whichever byte is damaged', () => {
    const whole = Buffer.from(mmdb('City', { '203.0.113.0/24': place(1, 2) }))
    let opened = 0
    for (let at = 0; at < whole.length; at++) {
      for (const value of [0, 0x20, 0xff, (whole[at] ?? 0) ^ 0x10]) {
        const bytes = Buffer.from(whole)
        bytes[at] = value
        const places = file('byte.mmdb', bytes)
        const geography = tried(() => openGeography({ ...none, places }, () => {}))
        if (geography === null) continue
        opened++
        expect(() => geography.locate('203.0.113.7')).not.toThrow()
      }
    }
    expect(opened).toBeGreaterThan(whole.length)
  })

  it.each<[name: string, files: Partial<Files>, expected: string]>([
    ['no MMDB', { places: file('bad.mmdb', 'nothing') }, 'GEOIP_DB: .*bad.mmdb is no MMDB file'],
    ['no file', { networks: '/nowhere.mmdb' }, 'ASN_DB: /nowhere.mmdb is no MMDB file that can be read: ENOENT'],
    [
      'no range',
      { anonymizers: file('bad.txt', '1.2.3.4\nhere') },
      'ANONYMIZERS: .*bad.txt, line 2: wanted an address range',
    ],
    ['no list', { anonymizers: '/nowhere.txt' }, 'ANONYMIZERS: /nowhere.txt cannot be read: ENOENT'],
    ...['GeoLite2-Country', 'GeoLite2-ASN', 'GeoIP2-Anonymous-IP', 'ipinfo generic_city.mmdb', ''].map((type) =>
      wrong('places', type),
    ),
    ...['GeoLite2-City', 'GeoLite2-Country', 'GeoIP2-Enterprise', 'DBIP-ISP (compat=Enterprise)'].map((type) =>
      wrong('networks', type),
    ),
  ])('stop the start with an error that names the file, and doctor names it: %s', (_, files, expected) => {
    const geography = { ...none, ...files }
    expect(() => openGeography(geography, noLine)).toThrow(new RegExp(`^${expected}`))
    expect(() => openGeography(geography, noLine)).toThrow(ExpectedFault)
    expect(checkGeography({ geography })).toEqual([
      expect.objectContaining({ area: 'geography', level: 'problem', found: expect.stringMatching(`^${expected}`) }),
    ])
  })

  it.each([
    [
      'places',
      [
        'GeoLite2-City',
        'GeoIP2-City-North-America',
        'GeoIP2-Enterprise',
        'DBIP-City-Lite',
        'DBIP-Location (compat=City)',
      ],
    ],
    ['networks', ['GeoLite2-ASN', 'DBIP-ASN-Lite (compat=GeoLite2-ASN)', 'GeoIP2-ISP']],
  ] as const)('are accepted as %s of the types %s', (name, types) => {
    for (const type of types) {
      const geography = { ...none, [name]: file('right.mmdb', mmdb(type, { '203.0.113.0/24': {} })) }
      expect(openGeography(geography, noLine).locate('203.0.113.7')).toEqual({
        place: null,
        network: null,
        anonymizer: null,
      })
      expect(checkGeography({ geography }).map(({ level }) => level)).toEqual(['ok'])
    }
  })
})

/** A file of another type than the setting wants. */
function wrong(name: 'places' | 'networks', type: string): [string, Partial<Files>, string] {
  const [setting, wanted] = name === 'places' ? ['GEOIP_DB', 'City or Enterprise'] : ['ASN_DB', 'ASN, or GeoIP2-ISP']
  const files = {
    [name]: file(`${name}-${type}.mmdb`, mmdb(type, { '203.0.113.0/24': { country: { iso_code: 'FR' } } })),
  }
  const said = `"${type}"`.replace(/[()]/g, '\\$&')
  return [`${type} as ${name}`, files, `${setting}: .* has the database_type ${said}; wanted one that names ${wanted}`]
}

function tried<T>(work: () => T): T | null {
  try {
    return work()
  } catch {
    return null
  }
}
