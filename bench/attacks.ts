import { loadPeople, type Person, type Session, splitPeople } from '../src/calibration/dataset.js'
import { seededRandom } from '../src/calibration/random.js'
import { SPECIES, synthesize, timesOf } from '../src/calibration/species.js'
import { REPLAY_BANDS_SHARED } from '../src/domain/replay.js'
import { boundsProblem } from '../src/domain/typing-pattern.js'
import type { Kernel } from '../src/scoring/kernel.js'
import { replayMark } from '../src/scoring/replay-mark.js'
import { encodeSample } from '../src/scoring/sample.js'

const SEED = 7
const REPLAY_DISTANCE_MS = 4
const percent = (count: number, of: number): string => `${((100 * count) / of).toFixed(2)} % of ${of}`
const sample = (session: Session): Uint8Array => encodeSample(session, 'visible')
const within = (session: Session): boolean => boundsProblem(session) === null

/** Lines of a report: sincere patterns taken for bots or replays, bots and jittered replays that get through. */
export function attackFigures(kernel: Kernel, data: string): string[] {
  const { untouched } = splitPeople(loadPeople(data, 'aalto'))
  return [
    ...[untouched, loadPeople(data, 'nislab'), loadPeople(data, 'monacoFree')].map((people, i) =>
      sincereBots(kernel, people, ['Aalto, untouched', 'NISLAB', 'Monaco free text'][i] ?? ''),
    ),
    ...botsThrough(kernel, untouched),
    ...replays(kernel, untouched),
  ]
}

function sincereBots(kernel: Kernel, people: readonly Person[], name: string): string {
  let [called, n] = [0, 0]
  for (const { sessions } of people) {
    for (const session of sessions.values()) {
      const pattern = session.slice(0, 50)
      if (!within(pattern)) continue
      kernel.read(0, sample(pattern))
      n++
      if (kernel.scoreRead(0).botLikelihood > 0.5) called++
    }
  }
  return `sincere patterns called a bot, ${name}: ${percent(called, n)}`
}

/** Each species against each person's first five sessions: through is neither called a bot nor below confidence 0.5. */
function botsThrough(kernel: Kernel, people: readonly Person[]): string[] {
  const random = seededRandom(SEED)
  const population = timesOf(people.flatMap(({ sessions }) => [...sessions.values()].slice(5, 6)))
  return SPECIES.map((species) => {
    let [missed, through, n] = [0, 0, 0]
    for (const { sessions } of people) {
      const all = [...sessions.values()]
      const own = all.slice(0, 5)
      for (const [i, session] of own.entries()) kernel.read(i + 1, sample(session.slice(0, 50)))
      const source = species.startsWith('S6') ? timesOf(own) : population
      for (const text of all.slice(5, 15)) {
        const bot = synthesize(species, text.slice(0, 50), source, random() < 0.5 ? 1 : 0.1, random)
        if (!within(bot)) continue
        kernel.read(0, sample(bot))
        const { botLikelihood, confidence } = kernel.scoreRead(5)
        n++
        if (botLikelihood <= 0.5) missed++
        if (botLikelihood <= 0.5 && (confidence ?? 0) >= 0.5) through++
      }
    }
    return `bots ${species}: not called a bot ${percent(missed, n)}, accepted ${percent(through, n)}`
  })
}

function replays(kernel: Kernel, people: readonly Person[]): string[] {
  const random = seededRandom(SEED)
  const key = new Uint8Array(32).fill(1)
  const shared = (a: Session, b: Session): boolean => {
    const theirs = replayMark(b, key).bands
    return replayMark(a, key).bands.filter((band, i) => band === theirs[i]).length >= REPLAY_BANDS_SHARED
  }
  const sessionsOf = people.map(({ sessions }) =>
    [...sessions.values()].map((session) => session.slice(0, 50)).filter(within),
  )
  const jittered = (session: Session, ms: number, scale: number): Session =>
    session.map(({ key: index, pressMs, releaseMs }) => ({
      key: index,
      pressMs: scale * (pressMs + ms * (2 * random() - 1)),
      releaseMs: scale * (releaseMs + ms * (2 * random() - 1)),
    }))
  const caught = [1, 2, 5].map((ms) => {
    let [byMark, byReference, n] = [0, 0, 0]
    for (const session of sessionsOf.flat()) {
      const replay = jittered(session, ms, 0.97 + 0.06 * random())
      n++
      if (shared(session, replay)) byMark++
      kernel.read(0, sample(replay))
      kernel.read(1, sample(session))
      if (kernel.scoreRead(1).replayDistanceMs < REPLAY_DISTANCE_MS) byReference++
    }
    return `replays scaled by 0.97 to 1.03 and jittered by ${ms} ms: caught by mark ${percent(byMark, n)}, by reference ${percent(byReference, n)}`
  })
  let [falseMarks, falseReferences, pairs] = [0, 0, 0]
  for (const sessions of sessionsOf) {
    sessions.forEach((session, i) => {
      for (const other of sessions.slice(i + 1)) {
        pairs++
        if (shared(session, other)) falseMarks++
        kernel.read(0, sample(session))
        kernel.read(1, sample(other))
        if (kernel.scoreRead(1).replayDistanceMs < REPLAY_DISTANCE_MS) falseReferences++
      }
    })
  }
  return [
    ...caught,
    `sincere pairs called a replay: by mark ${percent(falseMarks, pairs)}, by reference ${percent(falseReferences, pairs)}`,
  ]
}
