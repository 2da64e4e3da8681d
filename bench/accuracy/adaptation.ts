import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import {
  blended,
  type LearningRule,
  learner,
  type Profile,
  poisoned,
  sampleOf,
  typistOf,
} from '../../src/calibration/adaptation.js'
import { errorsAt } from '../../src/calibration/confidence.js'
import { inPieces, loadPeople, type Subject, splitPeople, type TypingSession } from '../../src/calibration/dataset.js'
import { figuresOf, type PersonScores } from '../../src/calibration/metrics.js'
import { runProtocol, varyingText } from '../../src/calibration/protocols.js'
import { seededRandom } from '../../src/calibration/random.js'
import { UPDATE_CONFIDENCE } from '../../src/domain/adaptation.js'
import { modelFile, wasmFile } from '../../src/scoring/artifacts.js'
import { createKernel, type KernelScore } from '../../src/scoring/kernel.js'

const HELP = `Effect of adaptation on sincere people and on impostors, on open data, with the shipped kernel, model and rules.

usage: npm run bench -- adaptation --data <folder> [--model FILE] [--steps N] [--attackers N]

  --data       folder with aalto_desktop.tsv.gz and monaco_free_text.tsv.gz
  --model      another model file than the shipped one, such as one that was fitted without Monaco
  --steps      steps of an impostor who blends from the victim's typing to their own, accepted if possible (200)
  --attackers  impostors for each of the 329 victims (3)`

const SEED = 20_240_609
const PRESSES = 50
const { values } = parseArgs({
  options: {
    data: { type: 'string' },
    model: { type: 'string' },
    steps: { type: 'string', default: '200' },
    attackers: { type: 'string', default: '3' },
    help: { type: 'boolean', short: 'h', default: false },
  },
})
const kernel = createKernel(
  new Uint8Array(readFileSync(wasmFile())),
  new Uint8Array(readFileSync(values.model ?? modelFile())),
)

const percent = (share: number): string => `${(100 * share).toFixed(2)} %`

/** Counts passes; reports their share in percent with the number of trials. */
function tally() {
  let [passed, tried] = [0, 0]
  return {
    count(pass: boolean) {
      tried++
      if (pass) passed++
    },
    share: () => passed / tried,
    text: () => `${percent(passed / tried)} of ${tried}`,
  }
}

const session = ({ sessions }: Subject, at: number): TypingSession | undefined =>
  sessions.get(String(at))?.slice(0, PRESSES)
const some = (person: Subject, from: number, count: number): TypingSession[] =>
  Array.from({ length: count }, (_, i) => session(person, from + i)).filter((one) => one !== undefined)
const enrolledOf = (sessions: readonly TypingSession[]): Profile => ({ enrolled: sessions.map(sampleOf), adaptive: [] })

function updateThreshold(people: readonly Subject[]): void {
  for (const [name, presses] of [
    ['P1, 50 presses', PRESSES],
    ['P2, 25 presses', 25],
  ] as const) {
    const { confidence } = runProtocol(kernel, varyingText(people, presses), 'later')
    const at = (scores: readonly number[]) => {
      const reached = tally()
      for (const score of scores) reached.count(score >= UPDATE_CONFIDENCE)
      return reached.text()
    }
    const [impostors, genuine] = [confidence.flatMap((one) => one.impostor), confidence.flatMap((one) => one.genuine)]
    console.log(
      `${name}: ${UPDATE_CONFIDENCE} is reached by impostors in ${at(impostors)}, sincerely in ${at(genuine)}`,
    )
  }
}

/** Enrolls five sessions and adapts to five more; then tests the person's own next five and everybody's tenth. */
function adapted(people: readonly Subject[]): void {
  const shipped = learner(kernel, 'shipped')
  const [own, ownLearned, others, othersLearned] = [tally(), tally(), tally(), tally()]
  for (const person of people) {
    const before = enrolledOf(some(person, 0, 5))
    const after = some(person, 5, 5).reduce((profile, one) => shipped.learn(profile, sampleOf(one)) ?? profile, before)
    for (const [profile, mine, theirs] of [
      [before, own, others],
      [after, ownLearned, othersLearned],
    ] as const) {
      for (const one of some(person, 10, 5)) mine.count(shipped.accepts(profile, sampleOf(one)))
      for (const other of people) {
        const one = session(other, 10)
        if (other !== person && one !== undefined) theirs.count(shipped.accepts(profile, sampleOf(one)))
      }
    }
  }
  console.log(`adapted, Aalto: owners pass ${own.text()}, ${ownLearned.text()} after learning`)
  console.log(`adapted, Aalto: impostors pass ${others.text()}, ${othersLearned.text()} after learning`)
}

const piecesOf = (day: TypingSession): Uint8Array[] => inPieces(day, PRESSES).map(sampleOf)
const daysOf = ({ sessions }: Subject): Uint8Array[][] => [...sessions.values()].map(piecesOf)
const REFERENCES = 5

/**
 * Simulates the life of a profile: it is enrolled in the first session and tested with all patterns of every later one, from
 * which it may learn once. Prints a row a day: patterns of the owner that fail and of others that pass, without learning and with it.
 */
function otherDays(people: readonly Subject[]): void {
  const shipped = learner(kernel, 'shipped')
  const rows = Array.from({ length: Math.max(...people.map(({ sessions }) => sessions.size)) - 1 }, () => ({
    own: tally(),
    ownLearned: tally(),
    others: tally(),
    othersLearned: tally(),
  }))
  for (const person of people) {
    const [first = [], ...later] = daysOf(person)
    const before = { enrolled: first.slice(0, REFERENCES), adaptive: [] }
    let profile: Profile = before
    for (const [day, pieces] of later.entries()) {
      const row = rows[day]
      if (row === undefined) break
      for (const piece of pieces) {
        row.own.count(!shipped.accepts(before, piece))
        row.ownLearned.count(!shipped.accepts(profile, piece))
      }
      for (const other of people) {
        for (const piece of other === person ? [] : (daysOf(other)[day + 1] ?? [])) {
          row.others.count(shipped.accepts(before, piece))
          row.othersLearned.count(shipped.accepts(profile, piece))
        }
      }
      for (const piece of pieces) {
        const learned = shipped.learn(profile, piece)
        if (learned === null) continue
        profile = learned
        break
      }
    }
  }
  console.log('a life, Monaco: owners fail / impostors pass, without learning; with it')
  for (const [i, { own, ownLearned, others, othersLearned }] of rows.entries())
    console.log(`  day ${i + 2}: ${own.text()} / ${others.text()}; ${ownLearned.text()} / ${othersLearned.text()}`)
}

/** Compares five references of one session with one each of five sessions, on the patterns of the last session. */
function spreadEnrollment(people: readonly Subject[]): void {
  const days = people.filter(({ sessions }) => sessions.size > REFERENCES).map(daysOf)
  const row = (text: string, referencesOf: (days: Uint8Array[][]) => Uint8Array[]): void => {
    const scored = days.map((own) => {
      for (const [i, reference] of referencesOf(own).entries()) kernel.read(i + 1, reference)
      const scores = (of: Uint8Array[][]) =>
        (of.at(-1) ?? []).map((piece) => {
          kernel.read(0, piece)
          return kernel.scoreRead(REFERENCES, 'later')
        })
      return { genuine: scores(own), impostor: days.filter((other) => other !== own).flatMap(scores) }
    })
    const by = (number: (score: KernelScore) => number): PersonScores[] =>
      scored.map(({ genuine, impostor }) => ({ genuine: genuine.map(number), impostor: impostor.map(number) }))
    const { global_eer, per_user_eer, fnmr_at_1pct } = figuresOf(by(({ fused }) => fused))
    const { fmr, fnmr } = errorsAt(
      0.5,
      by(({ confidence }) => confidence ?? 0),
    )
    console.log(
      `  ${text}: global EER ${percent(global_eer)}, per user ${percent(per_user_eer)}, FNMR at 1 % FMR ${percent(fnmr_at_1pct)}; at 0.5 owners fail ${percent(fnmr)}, impostors pass ${percent(fmr)}`,
    )
  }
  console.log(`enrollment over days, Monaco, ${days.length} people, the last session tested`)
  row('five references of the first session', ([first = []]) => first.slice(0, REFERENCES))
  row('five references of the session before', (of) => (of.at(-2) ?? []).slice(0, REFERENCES))
  row('one each of the five sessions before', (of) => of.slice(-1 - REFERENCES, -1).flatMap((day) => day.slice(0, 1)))
}

/** Synthesizes impostors from sessions 0 to 9 of two typists. The sessions that test the profile before and after are others. */
function poisoning(people: readonly Subject[], rule: LearningRule, steps: number, attackers: number): void {
  const rules = learner(kernel, rule)
  const random = seededRandom(SEED)
  const typists = new Map(people.map((person) => [person, typistOf(some(person, 0, 10))]))
  const [own, ownAfter, theirs, theirsAfter] = [tally(), tally(), tally(), tally()]
  for (const [v, victim] of people.entries()) {
    const before = enrolledOf(some(victim, 0, 5))
    for (let n = 0; n < attackers; n++) {
      const attacker = people[(v + 1 + Math.floor(random() * (people.length - 1))) % people.length]
      const [asVictim, asSelf] = [typists.get(victim), attacker && typists.get(attacker)]
      if (attacker === undefined || asVictim === undefined || asSelf === undefined) continue
      const after = poisoned(rules, before, steps, (step) => {
        const text = session(step % 2 === 0 ? victim : attacker, 5 + (step % 5)) ?? []
        const [from, to] = [asVictim(text, random), asSelf(text, random)]
        return (share) => blended(text, from, to, share)
      })
      for (const [profile, mine, impostor] of [
        [before, own, theirs],
        [after, ownAfter, theirsAfter],
      ] as const) {
        for (const one of some(victim, 10, 5)) mine.count(rules.accepts(profile, sampleOf(one)))
        for (const one of some(attacker, 10, 5)) impostor.count(rules.accepts(profile, sampleOf(one)))
      }
    }
  }
  console.log(
    `poisoned, ${rule}, ${steps} steps: the impostor passes ${theirs.text()} before, ${theirsAfter.text()} after (x ${(theirsAfter.share() / theirs.share()).toFixed(2)}); the owner ${own.text()} before, ${ownAfter.text()} after`,
  )
}

function main(data: string): void {
  const people = splitPeople(loadPeople(data, 'aalto')).untouched.filter((person) => some(person, 0, 10).length === 10)
  updateThreshold(people)
  adapted(people)
  const monaco = loadPeople(data, 'monacoFree')
  otherDays(monaco)
  spreadEnrollment(monaco)
  for (const rule of ['shipped', 'replacing'] as const)
    poisoning(people, rule, Number(values.steps), Number(values.attackers))
}

if (values.help) console.log(HELP)
else if (values.data === undefined) {
  console.error('--data <folder> is required; see --help')
  process.exitCode = 1
} else main(values.data)
