import type { CountedValues } from './habit.js'

/** The location of an address, from the operator's database. */
export interface Place {
  readonly latitude: number
  readonly longitude: number
  /** The database's stated accuracy: the true location is within this many km. */
  readonly accuracyKm: number
  /** ISO 3166-1 alpha-2; null if unknown. */
  readonly country: string | null
  readonly city: string | null
}

/** The network of an address, from the operator's database. */
export interface Network {
  readonly asn: number
  readonly organization: string | null
}

/** Properties that the device reports; null if it does not report one. */
export interface Device {
  readonly browser: string | null
  readonly os: string | null
  /** `desktop`, `mobile`, `tablet`, or another kind that the user agent indicates. */
  readonly kind: string | null
  readonly screen: string | null
  readonly time_zone: string | null
  readonly language: string | null
  readonly gpu: string | null
  /** Digest of the font list, and its length. */
  readonly fonts: string | null
  readonly cpu_threads: string | null
}

/** The context of one attempt. */
export interface Circumstances {
  /** Epoch ms. */
  readonly at: number
  /** The end user's address, canonical. */
  readonly ip: string | null
  readonly network: Network | null
  /** Whether the operator's list of anonymisers contains the address; null without a list or an address. */
  readonly anonymizer: boolean | null
  readonly place: Place | null
  readonly device: Device | null
}

/** Time and place of a success. */
export interface Seen {
  readonly at: number
  readonly latitude: number
  readonly longitude: number
  readonly accuracyKm: number
}

/**
 * Habits learned from a member's typing successes. They are stored in the member's row, so they are bounded to about 1 kB. A
 * field is absent until it was learned.
 */
export interface Habits {
  /** Number of successes learned from. */
  readonly n?: number
  /** Counts by signal name: `address`, `browser`, `country` and so on. */
  readonly values?: Readonly<Record<string, CountedValues>>
  /** Places, latest first; nearby places are merged. */
  readonly places?: readonly (Seen & { readonly times: number })[]
  /** Successes by hour of the week, UTC: `[hour from Monday 0:00, times]`. */
  readonly hours?: readonly (readonly [hour: number, times: number])[]
  readonly last?: Seen
}

/** `Habits` as JSON. A member holds this text, so that code that does not need the habits does not parse them. */
export type HabitsText = string

export const NO_HABITS: HabitsText = '{}'

export const readHabits = (text: HabitsText): Habits =>
  // Sound: only `writeHabits` writes this text.
  JSON.parse(text) as Habits

export const writeHabits = (habits: Habits): HabitsText => JSON.stringify(habits)
