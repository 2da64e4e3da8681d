/**
 * The coarseness of the references' clock: the logarithm of how much more often two of their holds are in one millisecond than in two
 * milliseconds at most eight apart. It is about 0 with a clock of 1 ms, 1.7 on the 8 ms of L2, and 2 to 2.6 on the 15.6 ms of Monaco;
 * ln 17 is the highest value. It says nothing of a probe, so it is no evidence for or against a person.
 */
import { HOLD_COUNTS, countOf } from './layout'
import { timesOf, pressesIn } from './features'

/** Holds that count, ms: nearly all. */
const FROM: i32 = 20
const TO: i32 = 340
/** Half of the window, ms: that of a clock of 16 ms is one tick. */
const NEAR: i32 = 8

// @ts-ignore: decorator
@inline
function holdsOf(ms: i32): usize {
  return HOLD_COUNTS + (<usize>(ms - FROM + NEAR) << 1)
}

/** The coarseness of the clock of slots 1 to `references`. */
export function coarsenessOf(references: i32): f32 {
  memory.fill(HOLD_COUNTS, 0, 672)
  for (let slot = 1; slot <= references; slot++) {
    const presses = timesOf(slot)
    const releases = presses + (<usize>pressesIn(slot) << 2)
    for (let i = 0; i < countOf(slot); i++) {
      const at = <usize>i << 2
      const ms = <i32>nearest<f32>(load<f32>(releases + at) - load<f32>(presses + at))
      if (ms >= FROM && ms < TO) store<u16>(holdsOf(ms), load<u16>(holdsOf(ms)) + 1)
    }
  }
  let window = 0, same = 0, near = 0
  for (let ms = FROM - NEAR; ms < FROM + NEAR; ms++) window += <i32>load<u16>(holdsOf(ms))
  for (let ms = FROM; ms < TO; ms++) {
    window += <i32>load<u16>(holdsOf(ms + NEAR))
    const here = <i32>load<u16>(holdsOf(ms))
    same += here * (here - 1)
    near += here * (window - 1)
    window -= <i32>load<u16>(holdsOf(ms - NEAR))
  }
  const windows: i32 = 2 * NEAR + 1
  return Mathf.log(<f32>(windows * same + 1) / <f32>(near + 1))
}
