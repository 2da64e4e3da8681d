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
  parisOffice: locationOf(10, 'Paris', 'FR', 48.87, 2.33, 64_496, 'Example Business Lines'),
  berlinOffice: locationOf(11, 'Berlin', 'DE', 52.52, 13.39, 64_497, 'Example Office Networks'),
  parisHomes: locationOf(20, 'Paris', 'FR', 48.85, 2.37, 64_498, 'Example Fibre'),
  versaillesHomes: locationOf(21, 'Versailles', 'FR', 48.8, 2.13, 64_498, 'Example Fibre'),
  lyonHomes: locationOf(22, 'Lyon', 'FR', 45.76, 4.84, 64_499, 'Example Cable'),
  berlinHomes: locationOf(30, 'Berlin', 'DE', 52.49, 13.44, 64_500, 'Example Telekom'),
  potsdamHomes: locationOf(31, 'Potsdam', 'DE', 52.39, 13.06, 64_500, 'Example Telekom'),
  leipzigHomes: locationOf(32, 'Leipzig', 'DE', 51.34, 12.37, 64_501, 'Example DSL'),
  lisbonHotel: locationOf(40, 'Lisbon', 'PT', 38.72, -9.14, 64_502, 'Example Hotel Wi-Fi'),
  hosting: locationOf(200, 'Ashburn', 'US', 39.04, -77.49, 64_510, 'Example Hosting', true),
  saoPaulo: locationOf(210, 'São Paulo', 'BR', -23.55, -46.63, 64_511, 'Example Mobile'),
} satisfies Record<string, Location>

function locationOf(
  third: number,
  city: string,
  country: string,
  latitude: number,
  longitude: number,
  asn: number,
  organization: string,
  anonymizer = false,
): Location {
  const place = { city, country, latitude, longitude, accuracyKm: 20 }
  return { prefix: `198.18.${third}`, place, network: { asn, organization }, anonymizer }
}

const byPrefix = new Map(Object.values(LOCATIONS).map((one) => [`${one.prefix}.0/24`, one]))

/** The made-up locations as the service's data about addresses. */
export const madeUpGeography: Geography = {
  look(address) {
    const { place, network, anonymizer } = byPrefix.get(addressPrefix(address)) ?? UNKNOWN
    return { place, network, anonymizer }
  },
}
const UNKNOWN = { place: null, network: null, anonymizer: null }
