/**
 * How coarse the clock of the references is: pairs of holds in one millisecond against pairs within eight, the logarithm of the
 * ratio. About 0 for a clock of 1 ms, 1.7 for 8 ms and 2.6 for 15.6 ms. It says nothing of a probe, so it is no evidence for or
 * against a person.
 */
import { countOf } from './layout'
import { timesOf, pressesIn } from './features'

/** Holds that count, ms. */
const FROM: i32 = 20
const TO: i32 = 340
/** Neighbours of a millisecond on each side. */
const NEAR: i32 = 8
const HOLDS: usize = memory.data(736, 16)

// @ts-ignore: decorator
@inline
function holdsOf(ms: i32): usize {
  return HOLDS + (<usize>(ms - FROM + NEAR) << 1)
}

/** The coarseness of slots 1 to `references`. */
export function tickOf(references: i32): f32 {
  memory.fill(HOLDS, 0, 736)
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
