import { z } from 'zod'
import { prepareFields } from '../../base/known-fields.js'
import { Refusal } from '../../domain/refusal.js'
import { UserRef } from '../../domain/user-ref.js'
import { type CheckedBody, checkedBody, parseJson } from '../../http/intake/json-body.js'
import type { Lane } from '../../http/route.js'

/** A verify body with a security code (interface, Typing pattern). Accepts every code length that a policy may require. */
export const SecurityCodeBody = z
  .object({
    securityCode: z.string().regex(/^\d{4,12}$/, 'must be 4 to 12 digits'),
    member_ref: UserRef.optional().describe('the member of a generic account'),
  })
  .meta({ title: 'SecurityCode', examples: [{ securityCode: '749205' }] })
export type SecurityCodeBody = z.infer<typeof SecurityCodeBody>

/** A recorder's pattern is larger, so only bodies up to this size are parsed on the main thread. */
const CODE_BYTES_MAX = 2048

/** Whether a verify body may hold a security code. A byte search decides this in a small body, without parsing. */
const mayHoldCode = (body: Uint8Array): boolean =>
  body.length <= CODE_BYTES_MAX && Buffer.from(body.buffer, body.byteOffset, body.length).includes('securityCode')

/** A security code has its own lane, because its slow hash must not delay typing. */
export const laneOfVerify = (body: Uint8Array): Lane => (mayHoldCode(body) ? 'code' : 'verify')

/**
 * The security code of a verify body; null if the body has none, and the scoring layer then validates it. Refuses an invalid
 * `securityCode` with `validation-failed`.
 */
export function securityCodeIn(body: Uint8Array): CheckedBody<SecurityCodeBody> | null {
  if (!mayHoldCode(body)) return null
  const value = parseJson(body)
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, 'securityCode')) return null
  return checkedBody(SecurityCodeBody, value)
}

/** Returns the answer to a body without a code. If the body is neither a code nor a pattern, the refusal names both forms. */
export function namingBothForms<T>(body: Uint8Array, answer: Promise<T>): Promise<T> {
  if (body.length > CODE_BYTES_MAX) return answer
  return answer.catch((error) => {
    throw error instanceof Refusal && error.kind === 'pattern-invalid' ? (neitherForm(body) ?? error) : error
  })
}

const PATTERN_FIELDS = ['agent', 'version', 'kevt', 'k']

/** The refusal that names both forms; null if the body is no JSON object, or has a field of a pattern. */
function neitherForm(body: Uint8Array): Refusal | null {
  let value: unknown
  try {
    value = parseJson(body)
  } catch {
    return null
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null
  if (PATTERN_FIELDS.some((name) => Object.hasOwn(value, name))) return null
  const forms = 'body: must be a typing pattern (agent, version, and kevt or k) or have a security code (securityCode)'
  return new Refusal('pattern-invalid', [forms, ...prepareFields(SecurityCodeBody, value)].join('; '))
}
