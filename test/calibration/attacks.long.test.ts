import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { edited } from '../../bench/accuracy/attackers.js'
import { FORGERY_BARS, MEMORY_BAR, PAIRS_BAR, SINCERE_BAR, withinBounds } from '../../bench/accuracy/attacks.js'
import { countAttack, countInOrder, countReuses, countUnindexed } from '../../bench/accuracy/captures.js'
import type { Edit } from '../../bench/accuracy/durations.js'
import { EDIT_BAR, EDITS, STRONGER_EDIT_BAR, STRONGER_EDITS } from '../../bench/accuracy/edits.js'
import {
  countForgeries,
  type Forger,
  forgerOf,
  populationOf,
  rememberingForger,
  victimsOf,
} from '../../bench/accuracy/forgeries.js'
import { countPairs, countReplays, patternsOf, REPLAYS } from '../../bench/accuracy/replays.js'
import { countSameWords, phraseTypists, sentenceTypists } from '../../bench/accuracy/same-words.js'
import { countSincere, passphrases, pieces, type SincereCount, sentences } from '../../bench/accuracy/sincere.js'
import { sessionsOf, targetsOf } from '../../bench/accuracy/targets.js'
import { ATTACK_MODEL_NAMES, type AttackModel } from '../../src/calibration/attack-models.js'
import { loadPeople, splitPeople } from '../../src/calibration/dataset.js'
import { MEMORY_MODEL_NAMES, type MemoryModel, strangersOf } from '../../src/calibration/remembered-noise.js'
import { modelFile, wasmFile } from '../../src/scoring/artifacts.js'
import { createKernel } from '../../src/scoring/kernel.js'
import { figure, LONG } from '../harness/figure.js'

const folder = process.env.KEYSTRIDE_DATA_SETS ?? ''
const skipped = folder === ''
const read = (file: string) => new Uint8Array(readFileSync(file))
const kernel = createKernel(read(wasmFile()), read(modelFile()))
const aalto = skipped ? { fitting: [], untouched: [] } : splitPeople(loadPeople(folder, 'aalto'))
const nislab = skipped ? [] : loadPeople(folder, 'nislab')
const victims = victimsOf(aalto.untouched)
const population = skipped ? undefined : populationOf(aalto.fitting)

/** Attack models that miss their bar; docs/accuracy.md (Attacks and captures) gives the reasons. */
const GAPS: readonly AttackModel[] = ['S6spliceOther']
/** The shrunk means of a pair are nearer to the victim's than the means themselves. */
const MEMORY_GAPS: readonly MemoryModel[] = ['S7shrunk']
/** Kinds of attack models with their bars, percent accepted. */
const KINDS = { 'constant typing': 0, draws: 1, 'population models': 2, 'personal models': 15 }
/** Number of forgeries. */
const SAMPLES = (LONG ? 30 : 2) * victims.length
const REPLAYED = LONG ? 10_000 : 600

const title = `the shipped model under attack, on people it was not fitted on${skipped ? ' — SKIPPED: set KEYSTRIDE_DATA_SETS to the folder of the open data sets' : ''}`
describe.skipIf(skipped)(title, { timeout: 1_200_000 }, () => {
  /** Reports one figure for all forgers of a bar: the largest share that is accepted. */
  const accepts = (kind: string, bar: number, forgers: readonly (readonly [string, Forger])[]) => {
    const counted = forgers.map(([name, forger]) => ({
      name,
      ...countForgeries(kernel, forger, victims, { samples: SAMPLES }),
    }))
    const worst = counted.reduce((most, one) => (one.accepted > most.accepted ? one : most))
    const percent = (100 * worst.accepted) / worst.samples
    const found = `${kind} at most ${percent.toFixed(2)} % (${worst.name}, bar ${bar})`
    figure('T06', found, `${bar} %`, percent <= bar)
  }
  it.each(Object.entries(KINDS))('accepts no more forgeries than the bar of %s allows', (kind, bar) => {
    if (population === undefined) return
    const models = ATTACK_MODEL_NAMES.filter((model) => FORGERY_BARS[model] === bar && !GAPS.includes(model))
    accepts(
      kind,
      bar,
      models.map((model) => [model, forgerOf(model, population)]),
    )
  })

  it('accepts few forgeries whose noise has a memory', () => {
    const models = MEMORY_MODEL_NAMES.filter((model) => !MEMORY_GAPS.includes(model))
    const strangers = strangersOf(aalto.fitting)
    accepts(
      'remembered noise',
      MEMORY_BAR,
      models.map((model) => [model, rememberingForger(model, strangers)]),
    )
  })

  it('classifies at most one sincere pattern in 200 as a bot, with and without references, over all texts and data sets', () => {
    const people = aalto.untouched.slice(0, 100)
    const [typists, monaco] = [nislab.slice(0, 30), loadPeople(folder, 'monacoFree')]
    const counts = [
      ...[sentences(people, 50), sentences(people, 25), pieces(monaco, 50)],
      ...[passphrases(typists, 'h1'), passphrases(typists, 'h2')],
    ].map((patterns) => countSincere(kernel, patterns))
    const sum = (of: keyof SincereCount) => counts.reduce((all, count) => all + count[of], 0)
    const percent = (100 * Math.max(sum('called'), sum('calledUnknown'))) / sum('patterns')
    const found = `${percent.toFixed(2)} % of ${sum('patterns')} sincere patterns called a machine (bar ${SINCERE_BAR})`
    figure('T06', found, `${SINCERE_BAR} %`, percent <= SINCERE_BAR)
  })

  it('detects replays of any seen pattern at least as often as the bar of each kind requires', () => {
    const all = patternsOf(aalto.untouched.slice(0, 100), 50).flat()
    const counted = Object.entries(REPLAYS).map(([what, { bar, ...how }]) => {
      const { ofReference, ofAnything } = countReplays(kernel, all, how, REPLAYED)
      expect(ofReference).toBeLessThanOrEqual(ofAnything)
      return { what, bar, missed: (100 * ofAnything) / REPLAYED }
    })
    const worst = counted.reduce((most, one) => (one.missed > most.missed ? one : most))
    const found = `at most ${worst.missed.toFixed(2)} % of replays not stopped (${worst.what}, bar ${worst.bar})`
    const bars = counted.map(({ what, bar }) => `${what} ${bar}`)
    const held = counted.every(({ missed, bar }) => missed <= bar)
    figure('T05', found, bars.join(', '), held)
  })

  const targets = targetsOf(kernel, sessionsOf(aalto.untouched))
  type Edits = readonly Edit[]
  /** Reports one figure: the edits with the highest share of authenticated copies. */
  const worstOf = (what: string, all: readonly (readonly [string, Edits])[], samples: number, bar: number) => {
    const counted = all.flatMap(([name, edits]) =>
      (['captures', 'enrolled'] as const).map((from) => {
        const { authenticated, samples: n } = countAttack(kernel, targets, edited(edits), { samples, from })
        return { percent: (100 * authenticated) / n, name }
      }),
    )
    const worst = counted.reduce((most, one) => (one.percent > most.percent ? one : most))
    const found = `${what} at most ${worst.percent.toFixed(2)} % (bar ${bar})`
    figure('T05', found, `${what}: ${bar} % (${worst.name})`, worst.percent <= bar)
  }
  const EDITED = LONG ? 10_000 : targets.length
  const single = Object.entries(EDITS)

  it('authenticates no more edited copies of sign-ins and references than the bar allows', () => {
    const edits = single.map(([name, edit]) => [name, [edit]] as const)
    worstOf('copies authenticated with one edit', edits, EDITED, EDIT_BAR)
    const stronger = Object.entries(STRONGER_EDITS).map(([name, edit]) => [name, [edit]] as const)
    worstOf('with a stronger edit', stronger, EDITED, STRONGER_EDIT_BAR)
  })

  it('authenticates no more copies with two edits than the bar allows', () => {
    const pairs = single.flatMap(([first, one]) =>
      single
        .filter(([second]) => second !== first)
        .map(([second, other]) => [`${first}, then ${second}`, [one, other]] as const),
    )
    worstOf('with two edits', pairs, LONG ? 2000 : 80, EDIT_BAR)
  })

  it('finds at least 60 % of the edited copies of each kind by the replay index alone', () => {
    const shares = single.map(
      ([, edit]) =>
        (100 * countUnindexed(kernel, targets, edited([edit]), { samples: targets.length, sender: 'the member' })) /
        targets.length,
    )
    const worst = Math.max(...shares)
    figure('T05', `${worst.toFixed(0)} % unknown to the index (bar 40)`, '40 %', worst <= 40)
  })

  it('authenticates at most one of 20 uses of a capture', () => {
    const pause = edited([EDITS['one pause longer by 60 to 500 ms']])
    const { most } = countReuses(kernel, LONG ? targets : targets.slice(0, 40), pause, 20)
    figure('T05', `${most} of 20 uses of a capture at most (bar 1)`, '1', most <= 1)
  })

  it('classifies at most one sincere pattern in 1,000 as a copy of one of the 48 patterns before it', () => {
    const typists = [...passphrases(nislab, 'h1'), ...passphrases(nislab, 'h2')]
    const { copies, patterns } = countInOrder(kernel, [...sessionsOf(aalto.untouched), ...typists])
    const percent = (100 * copies) / patterns
    figure('T05', `${copies} of ${patterns} sincere comparisons mistaken`, '0.1 %', percent <= 0.1)
  })

  it('mistakes at most one sincere pair in 1,000 for a replay', () => {
    const people = aalto.untouched.slice(0, LONG ? aalto.untouched.length : 50)
    const { pairs, called } = countPairs(kernel, patternsOf(people, 50), LONG ? 30_000 : 5000)
    const percent = (100 * called) / pairs
    figure('T05', `${called} of ${pairs} sincere comparisons mistaken`, `${PAIRS_BAR} %`, percent <= PAIRS_BAR)
  })

  it('mistakes at most one in 1,000 typings for a replay if people type the same thirty words hundreds of times', () => {
    const typists = [...sentenceTypists(aalto.untouched.slice(0, 10)), ...phraseTypists(nislab.slice(0, 10))]
    const [some, times] = LONG ? [typists, 500] : [typists.slice(5, 15), 200]
    const { typings, called, resembling } = countSameWords(kernel, some, times)
    expect(resembling).toBeGreaterThan(0)
    const percent = (100 * called) / typings
    const found = `${called} of ${typings} sincere comparisons mistaken`
    figure('T05', found, `${PAIRS_BAR} %`, percent <= PAIRS_BAR)
  })

  it('mistakes no typing of a passphrase for a replay of another, although some replay marks match', () => {
    const typings = [...passphrases(nislab, 'h1'), ...passphrases(nislab, 'h2')].map(withinBounds)
    const { pairs, resembling, called } = countPairs(kernel, typings, 30_000)
    expect(resembling).toBeGreaterThan(0)
    figure('T05', `${called} of ${pairs} sincere comparisons mistaken`, '0', called === 0)
  })
})
