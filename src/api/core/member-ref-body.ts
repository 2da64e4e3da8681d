import { UserRef } from '../../domain/user-ref.js'

/**
 * The `member_ref` that a typing pattern's body names, normalized; null where it names none that could be one. Parses
 * only what may hold one: everything else about the body is the scoring floor's to read and to refuse.
 */
export function memberRefIn(body: Uint8Array): string | null {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.length)
  if (!bytes.includes('"member_ref"')) return null
  try {
    const { member_ref } = JSON.parse(bytes.toString()) as { member_ref?: unknown }
    const parsed = UserRef.safeParse(member_ref)
    return parsed.success ? parsed.data : null
  } catch {
    return null
  }
}
