import { z } from 'zod'
import { UserRef } from '../../domain/user-ref.js'
import { checked, parseJson } from '../../http/json-body.js'
import type { Lane } from '../../http/route.js'

/** A verify body with a security code (interface, Typing pattern). Codes of every length a policy may ask for. */
export const SecurityCodeBody = z.object({
  securityCode: z.string().regex(/^\d{4,12}$/, 'must be 4 to 12 digits'),
  member_ref: UserRef.optional().describe('on generic accounts: the member'),
})
export type SecurityCodeBody = z.infer<typeof SecurityCodeBody>

/** No typing pattern is this small, so only bodies up to here are parsed on the server's own thread. */
const CODE_BYTES_MAX = 2048

/** Whether a verify body may hold a security code: what it costs to know. */
const mayHoldCode = (body: Uint8Array): boolean =>
  body.length <= CODE_BYTES_MAX && Buffer.from(body.buffer, body.byteOffset, body.length).includes('securityCode')

/** A code waits for its hash, typing does not. */
export const laneOfVerify = (body: Uint8Array): Lane => (mayHoldCode(body) ? 'code' : 'verify')

/**
 * The security code of a verify body; null where the body is none and so left to the scoring floor to judge. Refuses
 * with `validation-failed` what names a `securityCode` that cannot be one.
 */
export function securityCodeIn(body: Uint8Array): SecurityCodeBody | null {
  if (!mayHoldCode(body)) return null
  const value = parseJson(body)
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, 'securityCode')) return null
  // Sound: checked gives what this very schema makes of the value, or refuses.
  return checked(SecurityCodeBody, value, 'body') as SecurityCodeBody
}
