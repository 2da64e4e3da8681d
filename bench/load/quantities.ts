const UNITS_MS = { us: 0.001, ms: 1, s: 1000, m: 60_000 } as const

/** Milliseconds of `50ms`, `10s`, `2m`, `250us`; null for any other text. */
export function milliseconds(text: string): number | null {
  const [, number, unit] = /^(\d+(?:\.\d+)?)(us|ms|s|m)$/.exec(text.trim()) ?? []
  // Sound: the expression accepts no other unit.
  return number === undefined || unit === undefined ? null : Number(number) * UNITS_MS[unit as keyof typeof UNITS_MS]
}

/** The share of `0.02` or `2%`, 0 to 1; null for any other text. */
export function share(text: string): number | null {
  const [, number, percent] = /^(\d+(?:\.\d+)?)(%?)$/.exec(text.trim()) ?? []
  if (number === undefined) return null
  const value = Number(number) / (percent === '%' ? 100 : 1)
  return value <= 1 ? value : null
}

/** A time with three digits; `-` for null. */
export function shownMs(ms: number | null): string {
  if (ms === null) return '-'
  if (ms >= 10_000) return `${(ms / 1000).toFixed(1)} s`
  return ms >= 100 ? `${Math.round(ms)} ms` : ms >= 10 ? `${ms.toFixed(1)} ms` : `${ms.toFixed(2)} ms`
}

/** A number with its significant digits. */
export const shownNumber = (value: number): string =>
  value >= 100 || Number.isInteger(value) ? Math.round(value).toLocaleString('en') : value.toFixed(1)

/** A share in percent; `-` for null. */
export const shownShare = (value: number | null): string =>
  value === null ? '-' : `${(100 * value).toFixed(value > 0 && value < 0.001 ? 3 : 2)} %`
