import { UserRef } from '../../domain/user-ref.js'
import { fieldIn } from '../../http/json-around-bytes.js'

/**
 * The `member_ref` that a typing pattern's body names, normalized; null where it names none that could be one. Reads
 * that one field: everything else about the body is the scoring floor's to read and to refuse.
 */
export function memberRefIn(body: Uint8Array): string | null {
  if (!Buffer.from(body.buffer, body.byteOffset, body.length).includes('"member_ref"')) return null
  const field = fieldIn(body, 'member_ref')
  if (field === null) return null
  try {
    const parsed = UserRef.safeParse(JSON.parse(Buffer.from(field).toString()))
    return parsed.success ? parsed.data : null
  } catch {
    return null
  }
}
