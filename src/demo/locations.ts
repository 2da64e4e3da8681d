import { addressPrefix } from '../base/address.js'
import type { Network, Place } from '../domain/context/circumstances.js'
import type { Geography } from '../storage/geography.js'

/** A network of the made-up month: addresses of one /24. */
export interface Location {
  readonly prefix: string
  readonly place: Place
  readonly network: Network
  readonly anonymizer: boolean
}

/**
 * The location file of the made-up month. The addresses are of 198.18.0.0/15, which is reserved for tests of network devices, and the
 * networks have numbers that are reserved for documents: so no real network is named. The cities are real.
 */
export const LOCATIONS = {
  parisOffice: locationOf(10, at('Paris', 'FR', 48.87, 2.33), { asn: 64_496, organization: 'Example Business Lines' }),
  berlinOffice: locationOf(11, at('Berlin', 'DE', 52.52, 13.39), {
    asn: 64_497,
    organization: 'Example Office Networks',
  }),
  parisHomes: locationOf(20, at('Paris', 'FR', 48.85, 2.37), { asn: 64_498, organization: 'Example Fibre' }),
  versaillesHomes: locationOf(21, at('Versailles', 'FR', 48.8, 2.13), { asn: 64_498, organization: 'Example Fibre' }),
  lyonHomes: locationOf(22, at('Lyon', 'FR', 45.76, 4.84), { asn: 64_499, organization: 'Example Cable' }),
  berlinHomes: locationOf(30, at('Berlin', 'DE', 52.49, 13.44), { asn: 64_500, organization: 'Example Telekom' }),
  potsdamHomes: locationOf(31, at('Potsdam', 'DE', 52.39, 13.06), { asn: 64_500, organization: 'Example Telekom' }),
  leipzigHomes: locationOf(32, at('Leipzig', 'DE', 51.34, 12.37), { asn: 64_501, organization: 'Example DSL' }),
  lisbonHotel: locationOf(40, at('Lisbon', 'PT', 38.72, -9.14), { asn: 64_502, organization: 'Example Hotel Wi-Fi' }),
  hosting: locationOf(200, at('Ashburn', 'US', 39.04, -77.49), { asn: 64_510, organization: 'Example Hosting' }, true),
  saoPaulo: locationOf(210, at('São Paulo', 'BR', -23.55, -46.63), { asn: 64_511, organization: 'Example Mobile' }),
} satisfies Record<string, Location>

function locationOf(third: number, place: Place, network: Network, anonymizer = false): Location {
  return { prefix: `198.18.${third}`, place, network, anonymizer }
}

function at(city: string, country: string, latitude: number, longitude: number): Place {
  return { city, country, latitude, longitude, accuracyKm: 20 }
}

const byPrefix = new Map(Object.values(LOCATIONS).map((one) => [`${one.prefix}.0/24`, one]))

/** The made-up locations as the service's data about addresses. */
export const madeUpGeography: Geography = {
  locate(address) {
    const { place, network, anonymizer } = byPrefix.get(addressPrefix(address)) ?? UNKNOWN
    return { place, network, anonymizer }
  },
}
const UNKNOWN = { place: null, network: null, anonymizer: null }
