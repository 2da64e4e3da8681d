import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import {
  BEST_OF_48,
  byPosition,
  EIGHT_CAPTURES_SPLICED,
  EIGHT_CAPTURES_SYNTHESIZED,
  edited,
  STOLEN_REFERENCES,
  TWO_CAPTURES,
} from '../../../bench/accuracy/attackers.js'
import { countAttack, countInOrder, countLater, countReuses } from '../../../bench/accuracy/captures.js'
import { sessionOf } from '../../../bench/accuracy/durations.js'
import {
  AIMED_EDITS,
  DROWNING_EDITS,
  EDITS,
  MISPLACING_EDITS,
  MOVING_EDITS,
  STRONGER_EDITS,
} from '../../../bench/accuracy/edits.js'
import { targetsOf } from '../../../bench/accuracy/targets.js'
import { seededRandom } from '../../../src/calibration/random.js'
import { boundsProblem } from '../../../src/domain/typing-pattern.js'
import { modelFile, wasmFile } from '../../../src/scoring/artifacts.js'
import { createKernel } from '../../../src/scoring/kernel.js'
import { typedBy } from '../../scoring/typists.js'

const read = (file: string) => new Uint8Array(readFileSync(file))
const kernel = createKernel(read(wasmFile()), read(modelFile()))
const people = [1, 2, 3].map((id) => Array.from({ length: 15 }, (_, nth) => typedBy(id, nth)))
const targets = targetsOf(kernel, people)
const edits = {
  ...{ ...EDITS, ...STRONGER_EDITS, ...MOVING_EDITS },
  ...{ ...MISPLACING_EDITS, ...AIMED_EDITS, ...DROWNING_EDITS },
}
const { 'spliced by word': _, ...spliced } = EIGHT_CAPTURES_SPLICED

describe('the bench of captures', () => {
  it('gives every target five references, eight captures, and patterns that come later', () => {
    expect(
      targets.map(({ enrolled, captures, later }) => [
        enrolled.patterns.length,
        captures.patterns.length,
        later.length,
      ]),
    ).toEqual(people.map(() => [5, 8, 2]))
  })

  it.each(Object.entries(edits))('edits a capture within the bounds of a pattern: %s', (_name, edit) => {
    const random = seededRandom(1)
    for (const { captures } of targets)
      for (const capture of captures.patterns) expect(boundsProblem(sessionOf(edit(capture, random)))).toBeNull()
  })

  it.each(
    Object.entries({
      ...{ ...TWO_CAPTURES, ...spliced, ...EIGHT_CAPTURES_SYNTHESIZED, ...BEST_OF_48, ...STOLEN_REFERENCES },
      ...{ 'by key pair': edited([]), 'by position': edited([], byPosition) },
    }),
  )('types the keys that the service demands: %s', (_name, attacker) => {
    for (const { captures: loot, later } of targets) {
      const keys = later[0]?.map(({ key }) => key) ?? []
      const typed = attacker({ kernel, loot, stolen: loot.patterns, keys, random: seededRandom(1) })
      expect(typed.keys).toEqual(keys)
      expect(boundsProblem(sessionOf(typed))).toBeNull()
    }
  })

  it('calls every unchanged capture a copy, and none of the patterns that the owners type later', () => {
    const samples = 24
    expect(countAttack(kernel, targets, edited([]), { samples })).toMatchObject({
      samples,
      copies: samples,
      authenticated: 0,
    })
    expect(countLater(kernel, targets, 6)).toMatchObject({ samples: 6, copies: 0 })
    expect(countReuses(kernel, targets, edited([]), 3)).toMatchObject({ mean: 0, most: 0, captures: 3 })
    expect(countInOrder(kernel, people)).toMatchObject({ patterns: 30, copies: 0 })
  })
})
