import type { Policy } from './policy.js'
import { COMMON_CODES } from './security-codes-common.js'

/** State of a member's code, without its hash; times are epoch milliseconds. */
export interface CodeState {
  readonly set: boolean
  /** The service issued the code: it is valid for one sign-in, then the member must choose a code. */
  readonly temporary: boolean
  /** When a temporary code expires; null for a chosen one. */
  readonly expiresAt: number | null
  /** The temporary code was used for a sign-in. */
  readonly used: boolean
  /** Increases with every change of the code: a comparison with an older version does not count. */
  readonly version: number
}

/** Lifetime of a temporary code. */
export const TEMPORARY_CODE_MS = 24 * 3_600_000

/** Most temporary codes issued to a member per hour. */
export const ISSUED_PER_HOUR = 5
const HOUR_MS = 3_600_000

/** Whether the code is valid for a sign-in: set, not used, not expired. */
export const codeUsable = (code: CodeState, now: number): boolean =>
  code.set && !code.used && (code.expiresAt === null || now < code.expiresAt)

/**
 * The issue times after one more temporary code at `now`, or the milliseconds to wait before it may be issued. `issued`
 * holds the latest times, oldest first.
 */
export function afterIssue(issued: readonly number[], now: number): { issued: number[] } | { waitMs: number } {
  const recent = issued.filter((at) => now - at < HOUR_MS)
  const oldest = recent[recent.length - ISSUED_PER_HOUR]
  return oldest === undefined ? { issued: [...recent, now] } : { waitMs: oldest + HOUR_MS - now }
}

/** The rules of a code that depend on the organization and the person. */
export interface CodeRules {
  readonly policy: Policy['security_code_fallback']
  /** `userRef` and `member_ref`: their digits are not secret. */
  readonly refs: readonly string[]
}

/**
 * The reason why a code may not be chosen, a sentence without the code; null for an acceptable code. Equality with the
 * previous code is checked elsewhere, because only its hash is kept.
 */
export function weakness(code: string, { policy, refs }: CodeRules): string | null {
  if (!/^\d+$/.test(code) || code.length !== policy.code_length) return `must be exactly ${policy.code_length} digits`
  for (const { weak, message } of RULES) if (weak(code)) return message
  if (refs.some((ref) => sharesDigits(code, ref))) return 'must not contain digits of the user reference'
  if (policy.weak_codes.includes(code)) return 'is on the list of codes this organization does not accept'
  return null
}

/** Message for a code that equals the current or the previous one. */
export const PREVIOUS_CODE = 'must differ from the current and the previous code'

/** Most picks tried. 86 % of six-digit codes are not weak, so the limit is reached only if the policy leaves no code. */
const PICKS_MAX = 10_000

/**
 * A code that is not weak. `randomDigits` returns `count` independent, uniform digits. Throws if the policy leaves no code
 * to pick.
 */
export function pickCode(rules: CodeRules, randomDigits: (count: number) => string): string {
  for (let pick = 0; pick < PICKS_MAX; pick++) {
    const code = randomDigits(rules.policy.code_length)
    if (weakness(code, rules) === null) return code
  }
  throw new Error('the policy leaves no security code to pick')
}

const RULES: readonly { readonly weak: (code: string) => boolean; readonly message: string }[] = [
  { weak: (code) => new Set(code).size <= 2, message: 'must have more than two different digits' },
  { weak: constantStep, message: 'must not count up or down in equal steps' },
  { weak: repeatedBlock, message: 'must not repeat a block of digits' },
  { weak: (code) => code === reversed(code), message: 'must not read the same backwards' },
  { weak: holdsYear, message: 'must not begin or end with a year' },
  { weak: isDate, message: 'must not be a date' },
  { weak: keypadShape, message: 'must not follow a shape on the keypad' },
  { weak: (code) => COMMON_CODES.has(code), message: 'is one of the most common codes' },
]

const reversed = (code: string) => [...code].reverse().join('')

/** Whether the digits count up or down in equal steps, past 9 and 0 too. */
function constantStep(code: string): boolean {
  const steps = [...code].slice(1).map((digit, i) => (Number(digit) - Number(code[i]) + 10) % 10)
  return steps.every((step) => step === steps[0])
}

/** Whether the code repeats a block. The last repeat may be incomplete: 4074074 as well as 407407. */
function repeatedBlock(code: string): boolean {
  for (let block = 1; block <= code.length / 2; block++) {
    if ([...code].every((digit, i) => i < block || digit === code[i - block])) return true
  }
  return false
}

function holdsYear(code: string): boolean {
  return /^(19|20)\d\d/.test(code) || /(19|20)\d\d$/.test(code)
}

/** Common orders of day, month and year; `YYYY` is a year from 1900 to 2099. */
const DATE_ORDERS = [
  'DDMM',
  'MMDD',
  'DDMMYY',
  'MMDDYY',
  'YYMMDD',
  'YYDDMM',
  'DDMMYYYY',
  'MMDDYYYY',
  'YYYYMMDD',
  'YYYYDDMM',
]
const DAYS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

function isDate(code: string): boolean {
  return DATE_ORDERS.some((order) => {
    if (order.length !== code.length) return false
    const part = (letter: string) => [...code].filter((_, i) => order[i] === letter).join('')
    const year = part('Y')
    return (year.length < 4 || /^(19|20)/.test(year)) && isDay(Number(part('D')), Number(part('M')))
  })
}

const isDay = (day: number, month: number) => day >= 1 && day <= (DAYS[month - 1] ?? 0)

const bothWays = (shapes: readonly string[]) => shapes.flatMap((shape) => [shape, reversed(shape)])
/** Rows, columns and diagonals of a telephone's keypad (0 below 8). */
const LINES = bothWays(['123', '456', '789', '147', '258', '369', '159', '357', '2580', '580'])
/** Closed paths: all outer keys, the corners, the edges. */
const RINGS = bothWays(['12369874', '1397', '2684'])

function keypadShape(code: string): boolean {
  return RINGS.some((ring) => (ring + ring + ring + ring).includes(code)) || inLines(code)
}

/** Whether the digits consist of whole lines; the last one may end after its second key. */
function inLines(digits: string): boolean {
  if (digits.length >= 2 && LINES.some((line) => line.startsWith(digits))) return true
  return LINES.some((line) => digits.startsWith(line) && inLines(digits.slice(line.length)))
}

/** This many consecutive digits of a `userRef` or `member_ref` count as known. */
const RUN = 4

function sharesDigits(code: string, ref: string): boolean {
  for (const run of ref.match(/\d{4,}/g) ?? []) {
    for (let from = 0; from + RUN <= run.length; from++) if (code.includes(run.slice(from, from + RUN))) return true
  }
  return false
}
