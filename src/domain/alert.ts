/** What an organization can be told of (decisions, Dashboard). */
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
] as const
export type EventKind = (typeof EVENT_KINDS)[number]

export const CHANNELS = ['email', 'sms', 'syslog'] as const
export type Channel = (typeof CHANNELS)[number]

/** The rules matrix: which kind is sent over which channel. */
export type AlertRules = Readonly<Record<EventKind, Readonly<Record<Channel, boolean>>>>
/** What is left out stays as it is. */
export type RulesChange = {
  readonly [kind in EventKind]?: { readonly [channel in Channel]?: boolean | undefined } | undefined
}

/** The whole matrix after a change; of nothing, all is off. */
export function rulesAfter(before: RulesChange, change: RulesChange = {}): AlertRules {
  const of = (kind: EventKind) =>
    Object.fromEntries(
      CHANNELS.map((channel) => [channel, change[kind]?.[channel] ?? before[kind]?.[channel] ?? false]),
    )
  // Sound: every kind and every channel is there.
  return Object.fromEntries(EVENT_KINDS.map((kind) => [kind, of(kind)])) as AlertRules
}

/** What else is known of an event, by its kind. Names nobody. */
export interface EventDetails {
  /** Of a lock: until when, epoch ms; null until a reset or a new code. */
  readonly until?: number | null
  /** Of spraying: members whose codes failed within ten minutes, of how many. */
  readonly nFailed?: number
  readonly nMembers?: number
  /** Of an overage: what was counted, and how many are licensed. */
  readonly of?: 'accounts' | 'shared accounts'
  readonly n?: number
  readonly licensed?: number
  /** Of an outage, epoch ms. */
  readonly beganAt?: number
  readonly endedAt?: number
}

/** Something that happened. */
export interface AlertEvent {
  readonly kind: EventKind
  /** Epoch ms. */
  readonly at: number
  /** Both null where the organization as a whole is meant. */
  readonly userRef: string | null
  readonly memberRef: string | null
  readonly details: EventDetails
}

/** A heading for each kind: no event puts a word of its own into it. */
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
}

/** What happened, in a sentence: one line of printable ASCII, whatever the event carries. */
export function sentenceOf({ kind, userRef, memberRef, details }: AlertEvent): string {
  const who = memberRef === null || memberRef === userRef ? (userRef ?? 'somebody') : `${memberRef} of ${userRef}`
  return oneLine(SENTENCES[kind](who, details))
}

const SENTENCES: Readonly<Record<EventKind, (who: string, details: EventDetails) => string>> = {
  blocked: (who) => `A sign-in attempt in the name of ${who} was blocked.`,
  bot: (who) => `A typing pattern in the name of ${who} was made by a machine.`,
  replay: (who) => `A typing pattern in the name of ${who} was seen before.`,
  locked: (who, { until }) => `Typing of ${who} is locked ${untilWhen(until)} after failed attempts.`,
  'impossible-travel': (who) => `A sign-in attempt of ${who} came from further away than anybody travels.`,
  'security-code-locked': (who, { until, nFailed, nMembers }) =>
    nFailed === undefined
      ? `The security code of ${who} is locked ${untilWhen(until)} after failed attempts.`
      : `Security codes of ${nFailed} of ${nMembers ?? '?'} members failed within ten minutes: somebody may be trying codes on many people.`,
  'profile-reset': (who) => `The biometric profile of ${who} was reset.`,
  'quota-overage': (_, { of, n, licensed }) =>
    `${n ?? '?'} ${of ?? 'accounts'} are in use, ${licensed ?? '?'} are licensed.`,
  degraded: (_, { beganAt, endedAt }) =>
    `The service was degraded from ${moment(beganAt)} to ${moment(endedAt)}: sign-ins were refused meanwhile.`,
}

const moment = (at: number | undefined): string => (at === undefined ? 'an unknown time' : new Date(at).toISOString())
const untilWhen = (until: number | null | undefined): string =>
  typeof until === 'number' ? `until ${moment(until)}` : 'until somebody unlocks it'

const LINE_MAX = 500

/** Without anything that could end a line, a header or a frame: what is not printable ASCII becomes `?`. */
export const oneLine = (text: string): string => text.replace(/[^\x20-\x7e]/g, '?').slice(0, LINE_MAX)
