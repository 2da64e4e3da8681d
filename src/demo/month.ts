import { randomFrom } from '../typist/made-up-person.js'
import { LOCATIONS, type Location } from './locations.js'
import { DEMO_PEOPLE, type DemoPerson, type Device, HEADLESS, NEW_LAPTOP, STRANGERS_LAPTOP } from './people.js'

/** The kinds of event in the month. */
type Deed =
  /** The person joins: an account, and reference patterns. */
  | { readonly kind: 'join' }
  /** The person chooses a security code. */
  | { readonly kind: 'choose-code' }
  /** The person types, again after a failure, and then uses the code if there is one. `tempo` multiplies the times of the first try. */
  | { readonly kind: 'sign-in'; readonly tempo: number }
  | { readonly kind: 'code'; readonly right: boolean; readonly times: number }
  /** Somebody else types the person's words. */
  | { readonly kind: 'stranger'; readonly times: number }
  /** A machine types. */
  | { readonly kind: 'machine'; readonly times: number }
  /** The person's last typing is sent again, key for key. */
  | { readonly kind: 'copy' }

/** One event in the month of a person. */
export type Moment = Deed & {
  /** Epoch ms. */
  readonly at: number
  readonly address: string
  readonly device: Device
  readonly application: string
}

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
/** Days of the month; the last one is today. */
export const DAYS = 30
/** No event is newer than this, so that a person who signs in now is not at two places at once. */
const UNTIL_MS = 5 * MINUTE_MS

const PORTAL = 'portal'
const EXPENSES = 'expenses'

export const startOfDay = (at: number): number => at - (at % DAY_MS)
const weekday = (at: number): number => new Date(at).getUTCDay()
const isWorkday = (at: number): boolean => weekday(at) % 6 !== 0

/** The day of the attacks: the latest workday that is at least two days back. */
export function attackDay(now: number): number {
  let day = startOfDay(now) - 2 * DAY_MS
  while (!isWorkday(day)) day -= DAY_MS
  return day
}

/** The events of each person in the 30 days before `now`, in order of time; the same for the same day. */
export function monthOf(now: number): ReadonlyMap<DemoPerson, readonly Moment[]> {
  const first = startOfDay(now) - (DAYS - 1) * DAY_MS
  return new Map(
    DEMO_PEOPLE.map((person, i) => {
      const random = randomFrom(7_000 + person.seed)
      const joins = joiningAt(person, i, first, random)
      const hasCode = person.references >= TYPES_FROM && i % 3 === 1
      const own = [
        ...[{ ...here(person, joins, person.office), kind: 'join' } as const],
        ...(hasCode ? [{ ...here(person, joins + 10 * MINUTE_MS, person.office), kind: 'choose-code' } as const] : []),
        ...(person.references < TYPES_FROM ? [] : signIns(person, { joins, first, now, hasCode }, random)),
      ]
      const attacks = attacksOn(person, i, attackDay(now))
      const moments = [...own, ...attacks].filter(({ at }) => at <= now - UNTIL_MS && at >= joins)
      return [person, moments.sort((a, b) => a.at - b.at)]
    }),
  )
}

/** Least references with which a person signs in by typing. */
const TYPES_FROM = 5
/** Two thirds of the staff join on the first workday, the others on a later one. */
const FOUNDERS = 24
/** The last ones join in the last days: they have not completed their enrollment. */
const LATE = 2

function joiningAt({ references }: DemoPerson, i: number, first: number, random: () => number): number {
  const isFounder = i < FOUNDERS
  const late = references < TYPES_FROM ? DAYS - 1 - LATE - (i % 2) : 3 + Math.floor(random() * 18)
  let day = first + (isFounder ? 0 : late) * DAY_MS
  while (!isWorkday(day)) day += isFounder ? DAY_MS : -DAY_MS
  return day + 7 * HOUR_MS + Math.floor(random() * 90) * MINUTE_MS
}

type Random = () => number
interface Stay {
  readonly joins: number
  readonly first: number
  readonly now: number
  readonly hasCode: boolean
}

/** The person at a location, on a device. */
const here = (
  person: DemoPerson,
  at: number,
  location: Location,
  { application = PORTAL, device = person.device } = {},
) => ({
  at: Math.floor(at),
  // An office has two public addresses, homes have one each.
  address: `${location.prefix}.${location === person.office ? 1 + (person.seed % 2) : 20 + person.seed}`,
  device,
  application,
})

/** The sign-ins of a person, by the habits of when they come and where they work. */
function signIns(person: DemoPerson, { joins, first, now, hasCode }: Stay, random: Random): Moment[] {
  const comesAt = 6 * HOUR_MS + random() * 2.5 * HOUR_MS
  const homeDay = 1 + Math.floor(random() * 5)
  const moments: Moment[] = []
  for (let day = startOfDay(joins) + DAY_MS; day <= now; day += DAY_MS) {
    const n = Math.round((day - first) / DAY_MS)
    const location = locationOn(person, n, weekday(day) === homeDay)
    const device = person.seed === NEW_LAPTOPS_OWNER && n >= 18 ? NEW_LAPTOP : person.device
    const add = (sinceMidnight: number, application = PORTAL) =>
      moments.push({
        ...here(person, day + sinceMidnight, location, { application, device }),
        kind: 'sign-in',
        tempo: random() < SLOW ? 1.05 + 0.3 * random() : 1,
      })
    const near = (hour: number, spread: number) => (hour + spread * (random() - 0.5)) * HOUR_MS
    if (!isWorkday(day)) {
      if (random() < (person.group === 'support' ? 0.4 : 0.06)) add(near(10, 5))
      continue
    }
    // Everybody is away on some days.
    if (random() < 0.08) continue
    add(comesAt + 0.5 * HOUR_MS * (random() - 0.5))
    if (random() < 0.65) add(near(11.5, 1.5))
    if (random() < 0.2 || (n % 10 === 4 && random() < 0.5)) add(near(14, 3), EXPENSES)
    if (random() < 0.06) add(near(19.5, 2))
    if (hasCode && random() < 0.1)
      moments.push({ ...here(person, day + near(16, 2), location), kind: 'code', right: random() < 0.9, times: 1 })
    if (person.seed === FORGETS_CODE && n === 9)
      moments.push({ ...here(person, day + 15 * HOUR_MS, location), kind: 'code', right: false, times: 3 })
  }
  return moments
}

/** Share of sign-ins at which a person types slower than usual. Some of these fail. */
const SLOW = 0.3

/** Seeds of people with a story: a trip to Lisbon, a new laptop, three wrong codes. */
const TRAVELLER = 4
const NEW_LAPTOPS_OWNER = 7
const FORGETS_CODE = 8

function locationOn(person: DemoPerson, day: number, atHome: boolean): Location {
  if (person.seed === TRAVELLER && day >= 11 && day < 18) return LOCATIONS.lisbonHotel
  return atHome ? person.home : person.office
}

/** Seed of the person whose password was stolen, and of the one whose code somebody guesses. */
const VICTIM = 5
const GUESSED = 14
/** Minutes of the wrong codes. Each comes as soon as the lock of the earlier ones has ended; the last one locks until a new code. */
const GUESSES = [0, 0.3, 0.6, 17, 34, 51, 113, 175, 237, 299]

/** The attacks of one day: a wave of bots and a guessed code by night, a stolen password in the afternoon. */
function attacksOn(person: DemoPerson, i: number, day: number): Moment[] {
  const from = (location: Location, host: number, device: Device, at: number) => ({
    at: day + at,
    address: `${location.prefix}.${host}`,
    device,
    application: PORTAL,
  })
  const wave = (): Moment => ({
    ...from(LOCATIONS.hosting, 5 + (i % 9), HEADLESS, 2.7 * HOUR_MS + i * 29_000),
    kind: 'machine',
    times: 1 + (i % 3),
  })
  const bySaoPaulo = (hour: number) => from(LOCATIONS.saoPaulo, 77, STRANGERS_LAPTOP, hour * HOUR_MS)
  const guess = (minute: number): Moment => ({
    ...from(LOCATIONS.hosting, 66, STRANGERS_LAPTOP, 3.5 * HOUR_MS + minute * MINUTE_MS),
    kind: 'code',
    right: false,
    times: 1,
  })
  return [
    ...(i % 2 === 0 && i < FOUNDERS + 4 ? [wave()] : []),
    ...(person.seed === VICTIM
      ? [
          { ...here(person, day + 13.6 * HOUR_MS, person.office), kind: 'sign-in', tempo: 1 } as const,
          { ...bySaoPaulo(14.2), kind: 'stranger', times: 3 } as const,
          { ...bySaoPaulo(14.5), kind: 'copy' } as const,
        ]
      : []),
    ...(person.seed === GUESSED ? GUESSES.map(guess) : []),
  ]
}
