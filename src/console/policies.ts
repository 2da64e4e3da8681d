import { fill, t } from './texts.js'

/** Policies as the dashboard API gives and takes them. */

interface Weights {
  readonly weight?: number
  readonly signals?: Readonly<Record<string, number>>
}

interface Content {
  readonly name: string
  readonly decision_threshold: number
  readonly contextual_influence: number
  readonly priority: 'security' | 'balanced' | 'usability'
  readonly on_suspicion: 'block' | 'challenge'
  readonly words: 'suggest' | 'require'
  readonly enrollment: { readonly minHoursBetween: number }
  readonly groups: readonly string[]
  /** An absent weight has its default. */
  readonly indicators: Readonly<Record<string, Weights>>
  readonly security_code_fallback: {
    readonly enabled: boolean
    readonly max_biometric_attempts: number
    readonly max_code_attempts: number
    readonly code_length: number
    readonly weak_codes: readonly string[]
    readonly require_biometric_first: boolean
  }
}

export interface Policy extends Content {
  readonly id: string
  readonly is_default: boolean
  readonly is_shadow: boolean
  readonly created_at: string
  readonly updated_at: string | null
  readonly archived_at: string | null
}

export interface DefaultWeights {
  readonly indicator: string
  readonly weight: number
  readonly signals: Readonly<Record<string, number>>
}

export interface Policies {
  readonly count: number
  readonly data: readonly Policy[]
  readonly default_weights: readonly DefaultWeights[]
}

export interface Transition {
  readonly from: 'auth' | 'challenge' | 'block'
  readonly to: 'auth' | 'challenge' | 'block'
  readonly n: number
}

/** A policy as its form holds it: every field as it was typed. */
export interface Draft {
  readonly fields: Readonly<Record<PolicyField, string>>
  readonly enabled: boolean
  readonly biometricFirst: boolean
  /** Weights by `indicator` and by `indicator/signal`. An empty text stands for the default. */
  readonly weights: Readonly<Record<string, string>>
}

export const NUMBERS = {
  decision_threshold: { min: 0.01, max: 0.99, whole: false },
  contextual_influence: { min: 0, max: 0.5, whole: false },
  min_hours_between: { min: 0, max: 168, whole: false },
  max_biometric_attempts: { min: 1, max: 10, whole: true },
  max_code_attempts: { min: 1, max: 10, whole: true },
  code_length: { min: 4, max: 12, whole: true },
} as const
export type NumberField = keyof typeof NUMBERS
type PolicyField = NumberField | 'name' | 'priority' | 'on_suspicion' | 'words' | 'groups' | 'weak_codes'

/** The form of a policy. For a new policy, pass the content of the default policy. */
export function draftOf(policy: Content): Draft {
  const { security_code_fallback: fallback } = policy
  const weights: Record<string, string> = {}
  for (const [indicator, { weight, signals = {} }] of Object.entries(policy.indicators)) {
    if (weight !== undefined) weights[indicator] = String(weight)
    for (const [signal, value] of Object.entries(signals)) weights[`${indicator}/${signal}`] = String(value)
  }
  return {
    fields: {
      name: policy.name,
      decision_threshold: String(policy.decision_threshold),
      contextual_influence: String(policy.contextual_influence),
      priority: policy.priority,
      on_suspicion: policy.on_suspicion,
      words: policy.words,
      min_hours_between: String(policy.enrollment.minHoursBetween),
      groups: policy.groups.join(', '),
      max_biometric_attempts: String(fallback.max_biometric_attempts),
      max_code_attempts: String(fallback.max_code_attempts),
      code_length: String(fallback.code_length),
      weak_codes: fallback.weak_codes.join(', '),
    },
    enabled: fallback.enabled,
    biometricFirst: fallback.require_biometric_first,
    weights,
  }
}

const WEIGHT = { min: 0, max: 100, whole: false }
const listOf = (text: string) => text.split(/[\s,;]+/).filter((one) => one !== '')
const groupsOf = (text: string) =>
  text
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '')

function numberProblem(text: string, { min, max, whole }: { min: number; max: number; whole: boolean }): string | null {
  const value = Number(text.trim() === '' ? Number.NaN : text)
  if (value >= min && value <= max && (!whole || Number.isInteger(value))) return null
  return fill(whole ? t.policies.wholeBetween : t.policies.between, { min, max })
}

/** The problem of each field that the API would refuse, by the field's name or the weight's key. */
export function problemsOf({ fields, weights }: Draft): Readonly<Record<string, string>> {
  const problems: Record<string, string | null> = {}
  for (const name of Object.keys(NUMBERS) as NumberField[]) problems[name] = numberProblem(fields[name], NUMBERS[name])
  for (const [key, text] of Object.entries(weights)) if (text.trim() !== '') problems[key] = numberProblem(text, WEIGHT)
  const { length } = fields.name
  if (length < 1 || length > 100) problems.name = t.policies.nameLength
  const groups = groupsOf(fields.groups)
  if (groups.length > 50 || groups.some((group) => group.length > 100)) problems.groups = t.policies.groupsProblem
  const codes = listOf(fields.weak_codes)
  if (codes.length > 1000 || codes.some((code) => !/^\d{4,12}$/.test(code)))
    problems.weak_codes = t.policies.weakProblem
  return Object.fromEntries(Object.entries(problems).filter((one): one is [string, string] => one[1] !== null))
}

/** The content of a form without problems. */
export function contentOf({ fields, enabled, biometricFirst, weights }: Draft): Content {
  const indicators: Record<string, Weights> = {}
  for (const [key, text] of Object.entries(weights)) {
    if (text.trim() === '') continue
    const [indicator = '', signal] = key.split('/')
    const entry = indicators[indicator]
    indicators[indicator] =
      signal === undefined
        ? { ...entry, weight: Number(text) }
        : { ...entry, signals: { ...entry?.signals, [signal]: Number(text) } }
  }
  return {
    name: fields.name,
    decision_threshold: Number(fields.decision_threshold),
    contextual_influence: Number(fields.contextual_influence),
    // Sound: all three are chosen from lists.
    priority: fields.priority as Content['priority'],
    on_suspicion: fields.on_suspicion as Content['on_suspicion'],
    words: fields.words as Content['words'],
    enrollment: { minHoursBetween: Number(fields.min_hours_between) },
    groups: groupsOf(fields.groups),
    indicators,
    security_code_fallback: {
      enabled,
      max_biometric_attempts: Number(fields.max_biometric_attempts),
      max_code_attempts: Number(fields.max_code_attempts),
      code_length: Number(fields.code_length),
      weak_codes: listOf(fields.weak_codes),
      require_biometric_first: biometricFirst,
    },
  }
}

/** The text about attacks that the rule `suggest` leaves open. */
export const wordsOpen = (): string => fill(t.policies.wordsOpen, t.policies.wordsRules)
