import type { AccountType } from './account.js'

/** Kinds of event that an organization can be alerted to. */
export const EVENT_KINDS = [
  'blocked',
  'bot',
  'replay',
  'locked',
  'impossible-travel',
  'security-code-locked',
  'profile-reset',
  'quota-overage',
  'degraded',
  'enrollment-completed',
] as const
export type EventKind = (typeof EVENT_KINDS)[number]

export const CHANNELS = ['email', 'sms', 'syslog', 'webhook'] as const
export type Channel = (typeof CHANNELS)[number]

/** The rules matrix: which kind is sent over which channel. */
export type AlertRules = Readonly<Record<EventKind, Readonly<Record<Channel, boolean>>>>
/** An absent rule stays as it is. */
export type RulesChange = {
  readonly [kind in EventKind]?: { readonly [channel in Channel]?: boolean | undefined } | undefined
}

/** The whole matrix after a change; an absent rule is off. */
export function rulesAfter(before: RulesChange, change: RulesChange = {}): AlertRules {
  const of = (kind: EventKind) =>
    Object.fromEntries(
      CHANNELS.map((channel) => [channel, change[kind]?.[channel] ?? before[kind]?.[channel] ?? false]),
    )
  // Sound: every kind has every channel.
  return Object.fromEntries(EVENT_KINDS.map((kind) => [kind, of(kind)])) as AlertRules
}

/** Further facts of an event, by kind. They identify no person. */
export interface EventDetails {
  /** End of a lock, epoch ms; null if only a reset or a new code ends it. */
  readonly until?: number | null
  /** Number of members whose codes failed within ten minutes, and number of all members, if codes were tried on many members. */
  readonly nFailed?: number
  readonly nMembers?: number
  /** The thing that exceeds its quota, its count, and the licensed count. */
  readonly of?: 'accounts' | 'shared accounts'
  readonly n?: number
  readonly licensed?: number
  /** Beginning and end of an outage, epoch ms. */
  readonly beganAt?: number
  readonly endedAt?: number
  /** Type of the account and number of reference patterns of a completed profile. */
  readonly accountType?: AccountType
  readonly nPatternsRef?: number
}

export interface AlertEvent {
  readonly kind: EventKind
  /** Epoch ms. */
  readonly at: number
  /** Both null if the event concerns the organization as a whole. */
  readonly userRef: string | null
  readonly memberRef: string | null
  readonly details: EventDetails
}

/** A heading for each kind; it never contains text of the event. */
export const HEADINGS: Readonly<Record<EventKind, string>> = {
  blocked: 'a sign-in attempt was blocked',
  bot: 'a machine typed',
  replay: 'a typing pattern was replayed',
  locked: 'a person is locked',
  'impossible-travel': 'an impossible travel was blocked',
  'security-code-locked': 'security codes are locked',
  'profile-reset': 'a biometric profile was reset',
  'quota-overage': 'more is in use than licensed',
  degraded: 'the service was degraded',
  'enrollment-completed': 'a biometric profile is complete',
}

/** One sentence about an event: a single line of printable ASCII for any content. */
export function sentenceOf({ kind, userRef, memberRef, details }: AlertEvent): string {
  const who = memberRef === null || memberRef === userRef ? (userRef ?? 'somebody') : `${memberRef} of ${userRef}`
  return oneLine(SENTENCES[kind](who, details))
}

const SENTENCES: Readonly<Record<EventKind, (who: string, details: EventDetails) => string>> = {
  blocked: (who) => `A sign-in attempt in the name of ${who} was blocked.`,
  bot: (who) => `A typing pattern in the name of ${who} was made by a machine.`,
  replay: (who) => `A typing pattern in the name of ${who} was seen before.`,
  locked: (who, { until }) => `Typing of ${who} is locked ${untilWhen(until)} after failed attempts.`,
  'impossible-travel': (who) =>
    `A sign-in attempt of ${who} came from a place that is too far from the last one to travel in the time.`,
  'security-code-locked': (who, { until, nFailed, nMembers }) =>
    nFailed === undefined
      ? `The security code of ${who} is locked ${untilWhen(until)} after failed attempts.`
      : `Security codes of ${nFailed} of ${nMembers ?? '?'} members failed within ten minutes: an attacker may be trying codes on many people.`,
  'profile-reset': (who) => `The biometric profile of ${who} was reset.`,
  'quota-overage': (_, { of, n, licensed }) =>
    `${n ?? '?'} ${of ?? 'accounts'} are in use, ${licensed ?? '?'} are licensed.`,
  degraded: (_, { beganAt, endedAt }) =>
    `The service was degraded from ${moment(beganAt)} to ${moment(endedAt)}: sign-ins were refused meanwhile.`,
  'enrollment-completed': (who) => `The biometric profile of ${who} is complete.`,
}

const moment = (at: number | undefined): string => (at === undefined ? 'an unknown time' : new Date(at).toISOString())
const untilWhen = (until: number | null | undefined): string =>
  typeof until === 'number' ? `until ${moment(until)}` : 'until it is unlocked'

const LINE_MAX = 500

/** Replaces all but printable ASCII by `?`, so that nothing ends a line, a header or a frame. */
export const oneLine = (text: string): string => text.replace(/[^\x20-\x7e]/g, '?').slice(0, LINE_MAX)
