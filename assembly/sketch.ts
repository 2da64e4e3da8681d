/**
 * The format of a sketch: a pattern in 1 + 3n bytes. They are u8 presses n (127 at most) and in its highest bit whether the
 * pattern is confirmed (a reference or a successful sign-in), n key indices, n holds, n intervals from the previous press (0 at
 * the first). A time is a step on a logarithmic scale, 2.75 % wide (`src/scoring/sketch.ts` writes it).
 */
import { isLetter } from './key-classes'

const CONFIRMED: i32 = 0x80
/** Width of a step in natural logarithm, and the time in ms below which the scale is nearly linear. */
export const STEP: f64 = 0.0275
export const LINEAR_MS: f64 = 10

// @ts-ignore: decorator
@inline
export function pressesAt(sketch: usize): i32 {
  return <i32>load<u8>(sketch) & ~CONFIRMED
}

// @ts-ignore: decorator
@inline
export function isConfirmed(sketch: usize): bool {
  return (<i32>load<u8>(sketch) & CONFIRMED) != 0
}

// @ts-ignore: decorator
@inline
export function sizeAt(sketch: usize): usize {
  return 1 + 3 * <usize>pressesAt(sketch)
}

/** Key of a press. */
// @ts-ignore: decorator
@inline
export function sketchKey(sketch: usize, press: i32): i32 {
  return <i32>load<u8>(sketch + 1 + <usize>press) & 127
}

/** Address of the holds; the intervals follow them. */
// @ts-ignore: decorator
@inline
export function holdsAt(sketch: usize): usize {
  return sketch + 1 + <usize>pressesAt(sketch)
}

/** Key of a press whose key is not in the table, or is masked in sensitive mode. */
export const UNKNOWN_KEY: i32 = 0

/** Whether a press repeats a key other than a letter: a row of Backspace or of arrows is a rhythm of its own. */
// @ts-ignore: decorator
@inline
export function isRepeated(sketch: usize, press: i32): bool {
  const key = sketchKey(sketch, press)
  return key == sketchKey(sketch, press - 1) && key != UNKNOWN_KEY && !isLetter(key)
}
