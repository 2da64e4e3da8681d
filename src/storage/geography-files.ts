import { readFileSync } from 'node:fs'
import { type AsnResponse, type CityResponse, Reader } from 'mmdb-lib'
import { addressRange, addressSet } from '../base/address.js'
import { ExpectedFault } from '../base/expected-fault.js'
import { logAtIntervals } from '../base/log-at-intervals.js'
import type { Network, Place } from '../domain/context/circumstances.js'
import type { Geography } from './geography.js'

/** Paths of the operator's files; null if absent. */
interface GeographyFiles {
  /** MMDB with places, in the fields of GeoLite2 City. */
  readonly places: string | null
  /** MMDB with networks, in the fields of GeoLite2 ASN. */
  readonly networks: string | null
  /** Ranges of anonymisers, one per line; `#` begins a comment. */
  readonly anonymizers: string | null
}

/** Accuracy of a place whose record has none, km. Our choice. */
const ACCURACY_KM = 100

/** The `database_type` of a file from MaxMind or DB-IP shows its fields: `GeoLite2-City`, `DBIP-Location (compat=City)`. */
const PLACES = { setting: 'GEOIP_DB', type: /\b(City|Enterprise)\b/, wanted: 'City or Enterprise' }
const NETWORKS = { setting: 'ASN_DB', type: /\bASN\b|^GeoIP2-ISP\b/, wanted: 'ASN, or GeoIP2-ISP' }

/**
 * Reads the files once, as a whole. Throws an `ExpectedFault` if a file cannot be read or has other fields, which stops the start.
 * A look-up that fails because a file is damaged finds nothing, and `log` gets a line at intervals.
 */
export function openGeography(
  { places, networks, anonymizers }: GeographyFiles,
  log: (line: string) => void,
): Geography {
  const warn = logAtIntervals(log)
  const placeAt = places === null ? () => null : lookUp<CityResponse, Place>(places, PLACES, placeOf, warn)
  const networkAt = networks === null ? () => null : lookUp<AsnResponse, Network>(networks, NETWORKS, networkOf, warn)
  const hides = anonymizers === null ? null : addressSet(rangesOf(anonymizers))
  return {
    locate: (address) => ({
      place: placeAt(address),
      network: networkAt(address),
      anonymizer: hides === null ? null : hides(address),
    }),
  }
}

/** The look-up of an address in a file; null if the file does not have the address. */
function lookUp<Entry extends CityResponse | AsnResponse, T>(
  file: string,
  { setting, type, wanted }: typeof PLACES,
  read: (found: Entry) => T | null,
  warn: (line: string) => void,
): (address: string) => T | null {
  const reader = opened<Entry>(file, setting)
  const { databaseType, ipVersion } = reader.metadata
  if (!type.test(databaseType))
    throw new ExpectedFault(
      `${setting}: ${file} has the database_type ${JSON.stringify(databaseType)}; wanted one that names ${wanted}`,
    )
  return (address) => {
    // The reader would read the first 32 bits of an IPv6 address as an IPv4 address.
    if (ipVersion === 4 && address.includes(':')) return null
    try {
      const found = reader.get(address)
      return found === null ? null : read(found)
    } catch {
      warn(`${setting}: ${file} is damaged: a look-up failed, so its signals are null; replace the file`)
      return null
    }
  }
}

function opened<T extends CityResponse | AsnResponse>(file: string, setting: string): Reader<T> {
  try {
    return new Reader<T>(readFileSync(file))
  } catch (error) {
    throw new ExpectedFault(`${setting}: ${file} is no MMDB file that can be read: ${(error as Error).message}`)
  }
}

/** Checks type and range, because a damaged record may have any values. */
const numberOf = (value: unknown, least: number, most: number): number | null =>
  typeof value === 'number' && value >= least && value <= most ? value : null
const textOf = (value: unknown): string | null =>
  typeof value === 'string' && value.length <= TEXT_MAX && !/[\p{Cc}\ufffd]/u.test(value) ? value : null
/** Maximum number of characters of a name. No measurement behind it. */
const TEXT_MAX = 256

function placeOf({ location, country, city }: CityResponse): Place | null {
  const latitude = numberOf(location?.latitude, -90, 90)
  const longitude = numberOf(location?.longitude, -180, 180)
  if (latitude === null || longitude === null) return null
  return {
    latitude,
    longitude,
    accuracyKm: numberOf(location?.accuracy_radius, 0, 20_000) ?? ACCURACY_KM,
    country: textOf(country?.iso_code),
    city: textOf(city?.names?.en),
  }
}

function networkOf(found: AsnResponse): Network | null {
  const asn = numberOf(found.autonomous_system_number, 0, 2 ** 32 - 1)
  return asn === null ? null : { asn, organization: textOf(found.autonomous_system_organization) }
}

function rangesOf(file: string) {
  return linesOf(file).flatMap((line, i) => {
    const text = line.replace(/#.*/, '').trim()
    if (text === '') return []
    const range = addressRange(text)
    if (range === null)
      throw new ExpectedFault(`ANONYMIZERS: ${file}, line ${i + 1}: wanted an address range such as 192.0.2.0/24`)
    return range
  })
}

function linesOf(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split('\n')
  } catch (error) {
    throw new ExpectedFault(`ANONYMIZERS: ${file} cannot be read: ${(error as Error).message}`)
  }
}
