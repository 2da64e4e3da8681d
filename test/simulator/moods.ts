/** Calls that clients make, with their usual weights. */
const EVERYTHING = {
  ...{ bootstrap: 12, create: 6, enroll: 14, verify: 20, 'verify code': 12, 'legacy verify': 6, 'legacy link': 3 },
  ...{ choose: 3, issue: 2, clear: 0.5, reset: 0.7, 'remove one': 2, queue: 2, unlock: 0.5, act: 1 },
  ...{ 'make link': 2, 'open link': 3, 'link step': 7, 'revoke links': 0.3, delete: 0.7, change: 0.7, members: 0.7 },
}
export type Kind = keyof typeof EVERYTHING
export type Weights = Partial<Record<Kind, number>>

/** Behaviour of the clients for a period. */
interface Mood {
  readonly calls: Weights
  /** Shares of attempts that the right person makes; one is drawn for each mood. */
  readonly right: readonly number[]
  /** All calls concern one user. */
  readonly one: boolean
  /** Share of unreadable patterns. */
  readonly unreadable: number
  /** Pauses, s. Each call has the chance `wait` of one of them before it. */
  readonly waits: readonly number[]
  readonly wait: number
}

const WAITS = [31, 31, 301, 901, 901, 3601, 3601, 90_000, 8 * 86_400, 366 * 86_400]
export const ANY: Mood = {
  calls: EVERYTHING,
  right: [0.1, 0.4, 0.8],
  one: false,
  unreadable: 0.04,
  waits: WAITS,
  wait: 0.015,
}

export const MOODS: readonly Mood[] = [
  ANY,
  // Enrollment and sign-ins.
  {
    ...ANY,
    calls: { bootstrap: 8, create: 8, enroll: 30, verify: 18, choose: 2, issue: 2, queue: 1, 'legacy verify': 5 },
    right: [0.8],
  },
  // An attack on one user: the next try follows the end of each lock.
  {
    ...ANY,
    calls: { bootstrap: 5, verify: 30, 'verify code': 40, 'legacy verify': 8 },
    right: [0, 0.05],
    one: true,
    unreadable: 0,
    waits: [31, 31, 31, 901, 901, 3601, 3601, 3601, 90_000],
    wait: 0.15,
  },
  // Many attempts in quick succession, which use up one session after the other.
  {
    ...ANY,
    calls: { bootstrap: 3, verify: 45, 'verify code': 40, 'legacy verify': 6, choose: 1 },
    right: [0, 0.2, 0.5],
    one: true,
    unreadable: 0.02,
    waits: [31, 901],
    wait: 0.02,
  },
  // Profiles by links.
  {
    ...ANY,
    calls: { create: 3, 'make link': 4, 'open link': 5, 'link step': 35, 'revoke links': 0.3, verify: 6, enroll: 3 },
  },
  // Users are created and deleted.
  {
    ...ANY,
    calls: {
      create: 20,
      delete: 6,
      change: 5,
      bootstrap: 8,
      enroll: 12,
      choose: 6,
      issue: 4,
      'verify code': 8,
      act: 3,
    },
  },
  // Unreadable patterns.
  { ...ANY, calls: { enroll: 20, verify: 20, bootstrap: 3, 'link step': 5 }, one: true, unreadable: 0.7, waits: [301] },
]
