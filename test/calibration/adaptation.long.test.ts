import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import {
  blended,
  type LearningRule,
  learner,
  type Profile,
  poisoned,
  rhythmOf,
  sampleOf,
  typistOf,
} from '../../src/calibration/adaptation.js'
import { loadPeople, splitPeople, type TypingSession } from '../../src/calibration/dataset.js'
import { runProtocol, varyingText } from '../../src/calibration/protocols.js'
import { seededRandom } from '../../src/calibration/random.js'
import { ADAPTIVE_MAX, UPDATE_CONFIDENCE } from '../../src/domain/adaptation.js'
import { modelFile, wasmFile } from '../../src/scoring/artifacts.js'
import { createKernel } from '../../src/scoring/kernel.js'
import { figure, LONG } from '../harness/figure.js'
import { typedBy } from '../scoring/typists.js'

const read = (file: string) => new Uint8Array(readFileSync(file))
const kernel = createKernel(read(wasmFile()), read(modelFile()))
const folder = process.env.KEYSTRIDE_DATA_SETS ?? ''
const skipped = folder === ''

const enrolledOf = (sessions: readonly TypingSession[]): Profile => ({ enrolled: sessions.map(sampleOf), adaptive: [] })
const share = (passes: readonly boolean[]) => passes.filter(Boolean).length / passes.length

const inPercent = (share: number) => `${(100 * share).toFixed(1)} %`

describe('the learning rule, on synthetic people', () => {
  const STEPS = 200
  const profileOf = (person: number) => enrolledOf([0, 1, 2, 3, 4].map((session) => typedBy(person, session)))
  const probes = (person: number) => [20, 21, 22, 23, 24].map((session) => sampleOf(typedBy(person, session)))
  const mixed = (victim: number, attacker: number) => (step: number) => {
    const [from, to] = [typedBy(victim, 100 + step), typedBy(attacker, 100 + step)]
    return (part: number) => blended(from, rhythmOf(from), rhythmOf(to), part)
  }
  const PAIRS = Array.from({ length: 6 }, (_, i) => [i, 40 + i] as const)
  const campaign = (rule: LearningRule, steps: number) => {
    const rules = learner(kernel, rule)
    const all = PAIRS.map(([victim, attacker]) => {
      const before = profileOf(victim)
      const after = poisoned(rules, before, steps, mixed(victim, attacker))
      const pass = (profile: Profile, person: number) => probes(person).map((probe) => rules.accepts(profile, probe))
      return {
        after,
        owner: [pass(before, victim), pass(after, victim)],
        impostor: [pass(before, attacker), pass(after, attacker)],
      }
    })
    const rate = (whose: 'owner' | 'impostor', when: 0 | 1) => share(all.flatMap((one) => one[whose][when] ?? []))
    return { all, rate }
  }

  it(`lets at most twice as many impostors pass, and no fewer owners, after ${STEPS} poisoning steps`, () => {
    const { all, rate } = campaign('shipped', STEPS)
    expect(all.filter(({ after }) => after.adaptive.length === ADAPTIVE_MAX).length).toBeGreaterThan(PAIRS.length / 2)
    const [before, after] = [rate('impostor', 0), rate('impostor', 1)]
    const [ownBefore, ownAfter] = [rate('owner', 0), rate('owner', 1)]
    const found = `made-up impostors ${inPercent(before)} to ${inPercent(after)}, owners ${inPercent(ownBefore)} to ${inPercent(ownAfter)}`
    const held = after <= 2 * Math.max(before, 1 / (5 * PAIRS.length)) && ownAfter >= ownBefore
    figure('T12', found, 'impostors at most twice, owners no less', held)
  })

  it('lets impostors take over the profile if each accepted pattern replaces the oldest reference instead', () => {
    const { rate } = campaign('replacing', 40)
    expect(rate('impostor', 1)).toBeGreaterThan(0.2)
    expect(rate('owner', 1)).toBeLessThan(rate('owner', 0))
  })

  it('never changes the enrolled references', () => {
    const before = profileOf(1)
    const after = poisoned(learner(kernel, 'shipped'), before, 20, mixed(1, 50))
    expect(after.enrolled).toEqual(before.enrolled)
    expect(after.adaptive.length).toBeLessThanOrEqual(ADAPTIVE_MAX)
  })
})

const title = `the learning rule, on people of the open data${skipped ? ' — SKIPPED: set KEYSTRIDE_DATA_SETS to the folder of the open data sets' : ''}`
describe.skipIf(skipped)(title, { timeout: 1_200_000 }, () => {
  const people = () => splitPeople(loadPeople(folder, 'aalto')).untouched.slice(0, 100)
  const some = (person: ReturnType<typeof people>[number], from: number, count: number): TypingSession[] =>
    Array.from({ length: count }, (_, i) => person.sessions.get(String(from + i))?.slice(0, 50) ?? [])

  it(`lets an impostor reach the update threshold in at most 0.1 % of cases`, () => {
    const { confidence } = runProtocol(kernel, varyingText(people(), 50))
    const impostors = confidence.flatMap(({ impostor }) => impostor)
    // The claim is 0.1 % on all 329 people; on a hundred, the statistical uncertainty is half of that.
    expect(share(impostors.map((score) => score >= UPDATE_CONFIDENCE))).toBeLessThanOrEqual(0.0015)
  })

  const STEPS = LONG ? 200 : 40
  it(`at most doubles the share of accepted impostors in ${STEPS} poisoning steps`, () => {
    const rules = learner(kernel, 'shipped')
    const random = seededRandom(3)
    const all = people()
    const passes: [boolean, boolean][] = []
    const owners: [boolean, boolean][] = []
    all.forEach((victim, v) => {
      const attacker = all[(v + 37) % all.length]
      if (attacker === undefined) return
      const before = enrolledOf(some(victim, 0, 5))
      const [asVictim, asSelf] = [typistOf(some(victim, 0, 10)), typistOf(some(attacker, 0, 10))]
      const after = poisoned(rules, before, STEPS, (step) => {
        const text = some(step % 2 === 0 ? victim : attacker, 5 + (step % 5), 1)[0] ?? []
        const [from, to] = [asVictim(text, random), asSelf(text, random)]
        return (part) => blended(text, from, to, part)
      })
      const both = (probe: TypingSession): [boolean, boolean] => {
        const sample = sampleOf(probe)
        return [rules.accepts(before, sample), rules.accepts(after, sample)]
      }
      const judged = (person: typeof victim) => some(person, 10, 5).filter(({ length }) => length >= 15)
      passes.push(...judged(attacker).map(both))
      owners.push(...judged(victim).map(both))
    })
    const [before = 0, after = 0] = [0, 1].map((when) => share(passes.map((one) => one[when] === true)))
    const lost = owners.filter(([first, then]) => first && !then).length
    const found = `impostors of the data ${inPercent(before)} to ${inPercent(after)} in ${STEPS} steps, ${lost} of ${owners.length} owners lost`
    figure('T12', found, 'twice or 1 % at the most, 0 lost', after <= Math.max(2 * before, 0.01) && lost === 0)
  })
})
