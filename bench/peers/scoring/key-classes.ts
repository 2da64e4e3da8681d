import { KEY_KINDS } from './model.js'

/** Keys of the canonical table (`src/domain/key-table.ts`) that have habits of their own. */
export const SPACE = 37
export const BACKSPACE = 38
export const SHIFT = 41
export const CAPS_LOCK = 44
const PERIOD = 60
const LETTERS = 26

const LEFT = new Set([...'ABCDEFGQRSTVWXZ'].map((letter) => letter.charCodeAt(0) - 64))

export const isLetter = (key: number): boolean => key >= 1 && key <= LETTERS

export const FREQUENT_KEYS = 30
/** Rank of the keys that are frequent in patterns: Space, letters, Backspace, Shift, period; -1 for the rest. */
export const frequentKeys = Int8Array.from({ length: KEY_KINDS }, (_, key) =>
  isLetter(key) ? key : key === SPACE ? 0 : key === BACKSPACE ? 27 : key === SHIFT ? 28 : key === PERIOD ? 29 : -1,
)

/** 0 left hand, 1 right hand, 2 Space, 3 any other key. */
const hand = (key: number): number => (key === SPACE ? 2 : !isLetter(key) ? 3 : LEFT.has(key) ? 0 : 1)

function transitionClass(first: number, second: number): number {
  if (first === second) return 0
  const [a, b] = [hand(first), hand(second)]
  if (a < 2 && b < 2) return 1 + a * 2 + b
  if (a < 2 && b === 2) return 5 + a
  return a === 2 && b < 2 ? 7 + b : 9
}

export const TRANSITION_CLASSES = 10
/** Class of `first x 128 + second`: the same key twice, hand to hand (four), hand to Space, Space to hand (four), anything else. */
export const transitionClasses = Uint8Array.from({ length: KEY_KINDS * KEY_KINDS }, (_, pair) =>
  transitionClass(pair >> 7, pair & 127),
)
