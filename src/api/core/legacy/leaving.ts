/**
 * When the legacy endpoints were deprecated, and until when they are served at the least. Our choice: deprecated from
 * the first release on, and four years to move.
 */
export const LEGACY = {
  since: new Date('2026-11-01T00:00:00Z'),
  sunset: new Date('2030-12-31T23:59:59Z'),
} as const
