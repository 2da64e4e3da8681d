import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { FORGERY_BARS, PAIRS_BAR, SINCERE_BAR } from '../../bench/attacks.js'
import { countForgeries, populationOf, victimsOf } from '../../bench/forgeries.js'
import { countPairs, countReplays, patternsOf, REPLAYS } from '../../bench/replays.js'
import { countSincere, passphrases, pieces, type SincereCount, sentences } from '../../bench/sincere.js'
import { loadPeople, splitPeople } from '../../src/calibration/dataset.js'
import { SPECIES_NAMES, type Species } from '../../src/calibration/species.js'
import { modelFile, wasmFile } from '../../src/scoring/artifacts.js'
import { createKernel } from '../../src/scoring/kernel.js'

const folder = process.env.KEYSTRIDE_DATA_SETS ?? ''
const skipped = folder === ''
const why = skipped ? ' — SKIPPED: set KEYSTRIDE_DATA_SETS to the folder of the open data sets' : ''
const read = (file: string) => new Uint8Array(readFileSync(file))
const kernel = createKernel(read(wasmFile()), read(modelFile()))
const aalto = skipped ? { fitting: [], untouched: [] } : splitPeople(loadPeople(folder, 'aalto'))
const victims = victimsOf(aalto.untouched)
const population = skipped ? undefined : populationOf(aalto.fitting)

/** Not kept yet, and why: docs/accuracy.md, Bots and replays. */
const GAPS: readonly Species[] = ['S6pairLognormal', 'S6spliceOther']
/** Two forgeries a victim, an eighth of a minute in all; the bench makes as many as it is told. */
const SAMPLES = 2 * victims.length
const REPLAYED = 600

describe('the shipped model under attack, on people it was not fitted on', () => {
  it.skipIf(skipped).each(SPECIES_NAMES.filter((species) => !GAPS.includes(species)))(
    `accepts no more of %s than the yardstick allows${why}`,
    (species) => {
      if (population === undefined) return
      const { samples, accepted } = countForgeries(kernel, species, victims, population, SAMPLES)
      expect((100 * accepted) / samples).toBeLessThanOrEqual(FORGERY_BARS[species])
    },
  )

  it.skipIf(skipped)(
    `calls at most one sincere pattern in 200 a bot, with references and without, however and whatever was typed${why}`,
    () => {
      const people = aalto.untouched.slice(0, 100)
      const [nislab, monaco] = [loadPeople(folder, 'nislab').slice(0, 30), loadPeople(folder, 'monacoFree')]
      const counts = [
        sentences(people, 50),
        sentences(people, 25),
        passphrases(nislab, 'h1'),
        passphrases(nislab, 'h2'),
        pieces(monaco, 50),
      ].map((patterns) => countSincere(kernel, patterns))
      const sum = (of: keyof SincereCount) => counts.reduce((all, count) => all + count[of], 0)
      expect((100 * sum('called')) / sum('patterns')).toBeLessThanOrEqual(SINCERE_BAR)
      expect((100 * sum('calledUnknown')) / sum('patterns')).toBeLessThanOrEqual(SINCERE_BAR)
    },
    120_000,
  )

  it.skipIf(skipped).each(Object.entries(REPLAYS))(
    `stops replays of anything seen, %s, as often as the yardstick asks${why}`,
    (_, { bar, ...how }) => {
      const all = patternsOf(aalto.untouched.slice(0, 100), 50).flat()
      const { ofReference, ofAnything } = countReplays(kernel, all, how, REPLAYED)
      expect(ofReference).toBeLessThanOrEqual(ofAnything)
      expect((100 * ofAnything) / REPLAYED).toBeLessThanOrEqual(bar)
    },
  )

  it.skipIf(skipped)(`takes at most one sincere pair in 1,000 for a replay${why}`, () => {
    const { pairs, called } = countPairs(kernel, patternsOf(aalto.untouched.slice(0, 50), 50), 5000)
    expect((100 * called) / pairs).toBeLessThanOrEqual(PAIRS_BAR)
  })
})
