import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { FORGERY_BARS, PAIRS_BAR, SINCERE_BAR, withinBounds } from '../../bench/accuracy/attacks.js'
import { countForgeries, populationOf, victimsOf } from '../../bench/accuracy/forgeries.js'
import { countPairs, countReplays, patternsOf, REPLAYS } from '../../bench/accuracy/replays.js'
import { countSincere, passphrases, pieces, type SincereCount, sentences } from '../../bench/accuracy/sincere.js'
import { ATTACK_MODEL_NAMES, type AttackModel } from '../../src/calibration/attack-models.js'
import { loadPeople, splitPeople } from '../../src/calibration/dataset.js'
import { modelFile, wasmFile } from '../../src/scoring/artifacts.js'
import { createKernel } from '../../src/scoring/kernel.js'
import { figure, LONG } from '../trust/figure.js'

const folder = process.env.KEYSTRIDE_DATA_SETS ?? ''
const skipped = folder === ''
const why = skipped ? ' — SKIPPED: set KEYSTRIDE_DATA_SETS to the folder of the open data sets' : ''
const read = (file: string) => new Uint8Array(readFileSync(file))
const kernel = createKernel(read(wasmFile()), read(modelFile()))
const aalto = skipped ? { fitting: [], untouched: [] } : splitPeople(loadPeople(folder, 'aalto'))
const nislab = skipped ? [] : loadPeople(folder, 'nislab')
const victims = victimsOf(aalto.untouched)
const population = skipped ? undefined : populationOf(aalto.fitting)

/** Not kept yet, and why: docs/accuracy.md, Bots and replays. */
const GAPS: readonly AttackModel[] = ['S6pairLognormal', 'S6spliceOther']
/** Two forgeries a victim, an eighth of a minute in all; the bench makes as many as it is told. */
const SAMPLES = (LONG ? 30 : 2) * victims.length
const REPLAYED = LONG ? 10_000 : 600

describe('the shipped model under attack, on people it was not fitted on', () => {
  it.skipIf(skipped).each(ATTACK_MODEL_NAMES.filter((attackModel) => !GAPS.includes(attackModel)))(
    `accepts no more of %s than its bar allows${why}`,
    (attackModel) => {
      if (population === undefined) return
      const { samples, accepted } = countForgeries(kernel, attackModel, victims, population, SAMPLES)
      const bar = FORGERY_BARS[attackModel]
      const percent = (100 * accepted) / samples
      figure(
        'T06',
        `${attackModel} ${percent.toFixed(2)} % of ${samples} accepted`,
        `${attackModel} ${bar} %`,
        percent <= bar,
      )
    },
  )

  it.skipIf(skipped)(
    `calls at most one sincere pattern in 200 a bot, with references and without, however and whatever was typed${why}`,
    () => {
      const people = aalto.untouched.slice(0, 100)
      const [typists, monaco] = [nislab.slice(0, 30), loadPeople(folder, 'monacoFree')]
      const counts = [
        sentences(people, 50),
        sentences(people, 25),
        passphrases(typists, 'h1'),
        passphrases(typists, 'h2'),
        pieces(monaco, 50),
      ].map((patterns) => countSincere(kernel, patterns))
      const sum = (of: keyof SincereCount) => counts.reduce((all, count) => all + count[of], 0)
      const percent = (100 * Math.max(sum('called'), sum('calledUnknown'))) / sum('patterns')
      const found = `${percent.toFixed(2)} % of ${sum('patterns')} sincere patterns called a machine`
      figure('T06', found, `${SINCERE_BAR} %`, percent <= SINCERE_BAR)
    },
    120_000,
  )

  it.skipIf(skipped).each(Object.entries(REPLAYS))(
    `stops replays of anything seen, %s, as often as its bar asks${why}`,
    (what, { bar, ...how }) => {
      const all = patternsOf(aalto.untouched.slice(0, 100), 50).flat()
      const { ofReference, ofAnything } = countReplays(kernel, all, how, REPLAYED)
      expect(ofReference).toBeLessThanOrEqual(ofAnything)
      const missed = (100 * ofAnything) / REPLAYED
      figure('T05', `${what}: ${missed.toFixed(2)} % of ${REPLAYED} not stopped`, `${what}: ${bar} %`, missed <= bar)
    },
  )

  it.skipIf(skipped)(`takes at most one sincere pair in 1,000 for a replay${why}`, () => {
    const people = aalto.untouched.slice(0, LONG ? aalto.untouched.length : 50)
    const { pairs, called } = countPairs(kernel, patternsOf(people, 50), LONG ? 30_000 : 5000)
    const percent = (100 * called) / pairs
    figure('T05', `${percent.toFixed(3)} % of ${pairs} sincere pairs mistaken`, `${PAIRS_BAR} %`, percent <= PAIRS_BAR)
  })

  it.skipIf(skipped)(
    `takes no typing of a passphrase for another, though their marks are alike now and then${why}`,
    () => {
      const typings = [...passphrases(nislab, 'h1'), ...passphrases(nislab, 'h2')].map(withinBounds)
      const { pairs, resembling, called } = countPairs(kernel, typings, 30_000)
      expect(resembling).toBeGreaterThan(0)
      figure('T05', `${called} of ${pairs} pairs of the same passphrase mistaken`, '0', called === 0)
    },
  )
})
