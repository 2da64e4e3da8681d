/**
 * The hand that types a key (QWERTY, the layout of nearly all of the fitting data) and its index among the frequent keys.
 * Indices are those of the canonical key table (`src/domain/key-table.ts`): 1 to 26 letters, 37 Space, 38 Backspace.
 */
const LEFT_LETTERS: u32 =
  (1 << 1) | (1 << 2) | (1 << 3) | (1 << 4) | (1 << 5) | (1 << 6) | (1 << 7) | (1 << 17) | (1 << 18) | (1 << 19) |
  (1 << 20) | (1 << 22) | (1 << 23) | (1 << 24) | (1 << 26)

export const SPACE: i32 = 37
export const BACKSPACE: i32 = 38
export const SHIFT: i32 = 41
export const CAPS_LOCK: i32 = 44
export const V: i32 = 22
export const INSERT: i32 = 55

export function isLetter(key: i32): bool {
  return key >= 1 && key <= 26
}

/** 0 left hand, 1 right hand, 2 Space, 3 any other key. */
function hand(key: i32): i32 {
  if (key == SPACE) return 2
  if (!isLetter(key)) return 3
  return (LEFT_LETTERS >> key) & 1 ? 0 : 1
}

export const TRANSITION_CLASSES: i32 = 10

/** Class of a transition: the same key twice, hand to hand (four), hand to Space, Space to hand (four), anything else. */
export function transitionClass(first: i32, second: i32): i32 {
  if (first == second) return 0
  const a = hand(first)
  const b = hand(second)
  if (a < 2 && b < 2) return 1 + a * 2 + b
  if (a < 2 && b == 2) return 5 + a
  if (a == 2 && b < 2) return 7 + b
  return 9
}

export const FREQUENT_KEYS: i32 = 30

/** Index among the keys that are frequent in patterns: Space, letters, Backspace, Shift, period; -1 for the rest. */
export function frequentKey(key: i32): i32 {
  if (isLetter(key)) return key
  switch (key) {
    case 37: return 0
    case 38: return 27
    case 41: return 28
    case 60: return 29
  }
  return -1
}
