import type { Counted } from './habit.js'

/** Where an address is, by the operator's database. */
export interface Place {
  readonly latitude: number
  readonly longitude: number
  /** The database's own accuracy: the place is within this many km. */
  readonly accuracyKm: number
  /** ISO 3166-1 alpha-2; null where the database names none. */
  readonly country: string | null
  readonly city: string | null
}

/** Whose network an address is of, by the operator's database. */
export interface Network {
  readonly asn: number
  readonly organization: string | null
}

/** What a device says of itself, each null where it does not. */
export interface Device {
  readonly browser: string | null
  readonly os: string | null
  /** `desktop`, `mobile`, `tablet`, or what else the user agent makes it out to be. */
  readonly kind: string | null
  readonly screen: string | null
  readonly time_zone: string | null
  readonly language: string | null
  readonly gpu: string | null
  /** A digest of the list, and how many there are. */
  readonly fonts: string | null
  readonly cpu_threads: string | null
}

/** What is known around one attempt. */
export interface Circumstances {
  /** Epoch ms. */
  readonly at: number
  /** End user's address in its shortest form. */
  readonly ip: string | null
  readonly network: Network | null
  /** In a range of the operator's list of anonymisers; null where there is no list or no address. */
  readonly anonymizer: boolean | null
  readonly place: Place | null
  readonly device: Device | null
}

/** Where and when a success last had a place. */
export interface Seen {
  readonly at: number
  readonly latitude: number
  readonly longitude: number
  readonly accuracyKm: number
}

/**
 * What a member's past successes by typing had in common. Small, since it lies on the member's row: some 1 kB. Each field
 * is absent until something was learned.
 */
export interface Habits {
  /** Successes learned from. */
  readonly n?: number
  /** By signal name: `address`, `browser`, `country` and so on. */
  readonly values?: Readonly<Record<string, Counted>>
  /** Places, nearby ones counted as one: the latest first. */
  readonly places?: readonly (Seen & { readonly times: number })[]
  /** Successes by hour of the week, UTC: `[hour from Monday 0:00, times]`. */
  readonly hours?: readonly (readonly [hour: number, times: number])[]
  readonly last?: Seen
}

/** `Habits` as JSON, which is how a member carries them: who does not look into them neither reads nor writes them anew. */
export type HabitsText = string

export const NO_HABITS: HabitsText = '{}'

export const readHabits = (text: HabitsText): Habits =>
  // Sound: `writeHabits` alone writes what a member carries.
  JSON.parse(text) as Habits

export const writeHabits = (habits: Habits): HabitsText => JSON.stringify(habits)
