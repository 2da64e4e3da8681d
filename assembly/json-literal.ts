/** The literals of JSON. As in `json.ts`, a function returns the address past an element, or 0 if it declines it. */

/** Reads `true` or `false`; the caller distinguishes them by the first byte. */
// @ts-ignore: decorator
@inline
export function afterBoolean(at: usize): usize {
  const word = load<u32>(at)
  if (word == 0x65757274) return at + 4
  return word == 0x736c6166 && load<u8>(at, 4) == 0x65 ? at + 5 : 0
}

/** Whether the value that begins here can only be null. */
// @ts-ignore: decorator
@inline
export function isNull(at: usize): bool {
  return load<u8>(at) == 0x6e
}

export function afterNull(at: usize): usize {
  return load<u32>(at) == 0x6c6c756e ? at + 4 : 0
}

/** A boolean or null, for an optional field. */
export function afterBooleanOrNull(at: usize): usize {
  return isNull(at) ? afterNull(at) : afterBoolean(at)
}
