/**
 * The time at which the legacy endpoints were deprecated, and the earliest end of their service. Our choice: they are deprecated
 * since the first release, and served for four more years.
 */
export const LEGACY = {
  since: new Date('2026-11-01T00:00:00Z'),
  sunset: new Date('2030-12-31T23:59:59Z'),
} as const
