import { readFileSync } from 'node:fs'
import { type AsnResponse, type CityResponse, Reader } from 'mmdb-lib'
import { addressRange, addressSet } from '../domain/context/address.js'
import type { Network, Place } from '../domain/context/circumstances.js'
import type { Geography } from './geography.js'

/** The operator's files; null if absent. */
interface GeographyFiles {
  /** MMDB with places, in the fields of GeoLite2 City. */
  readonly places: string | null
  /** MMDB with networks, in the fields of GeoLite2 ASN. */
  readonly networks: string | null
  /** Ranges of anonymisers, one per line; `#` begins a comment. */
  readonly anonymizers: string | null
}

/** Accuracy of a place without one in the database, km. Our choice. */
const ACCURACY_KM = 100

/** Reads the files once, as a whole. Throws an error for the operator if a file cannot be read: the start stops then. */
export function openGeography({ places, networks, anonymizers }: GeographyFiles): Geography {
  const cities = places === null ? null : opened<CityResponse>(places)
  const asns = networks === null ? null : opened<AsnResponse>(networks)
  const hides = anonymizers === null ? null : addressSet(rangesOf(anonymizers))
  return {
    look: (address) => ({
      place: placeOf(cities?.get(address) ?? null),
      network: networkOf(asns?.get(address) ?? null),
      anonymizer: hides === null ? null : hides(address),
    }),
  }
}

function opened<T extends CityResponse | AsnResponse>(file: string): Reader<T> {
  try {
    return new Reader<T>(readFileSync(file))
  } catch (error) {
    throw new Error(`${file} is no MMDB file that can be read: ${(error as Error).message}`)
  }
}

function placeOf(found: CityResponse | null): Place | null {
  const { latitude, longitude, accuracy_radius: accuracyKm } = found?.location ?? {}
  if (latitude === undefined || longitude === undefined) return null
  return {
    latitude,
    longitude,
    accuracyKm: accuracyKm ?? ACCURACY_KM,
    country: found?.country?.iso_code ?? null,
    city: found?.city?.names.en ?? null,
  }
}

function networkOf(found: AsnResponse | null): Network | null {
  if (found?.autonomous_system_number === undefined) return null
  return { asn: found.autonomous_system_number, organization: found.autonomous_system_organization ?? null }
}

function rangesOf(file: string) {
  const lines = readFileSync(file, 'utf8').split('\n')
  return lines.flatMap((line, i) => {
    const text = line.replace(/#.*/, '').trim()
    if (text === '') return []
    const range = addressRange(text)
    if (range === null) throw new Error(`${file}, line ${i + 1}: wanted an address range such as 192.0.2.0/24`)
    return range
  })
}
