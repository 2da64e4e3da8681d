import { createKernel } from '../scoring/kernel.js'
import { encodeSample } from '../scoring/sample.js'
import type { Examples } from './boosting.js'
import type { Person, Session } from './dataset.js'
import { type Random, seededRandom, shuffled } from './random.js'
import { disturbed, SPECIES, synthesize, timesOf } from './species.js'

/** One random choice of references for everybody: how many, how long the patterns, and whether keys are masked. */
interface Round {
  readonly references: number
  readonly presses: () => number
  readonly masked: boolean
}

/** Protocol-like rounds weigh most; the rest teach short patterns, other numbers of references and masked keys. */
function roundsOf(random: Random): Round[] {
  const full: Round = { references: 5, presses: () => 50, masked: false }
  return [
    full,
    full,
    full,
    { references: 5, presses: () => 25, masked: false },
    { references: 3 + Math.floor(random() * 8), presses: () => 15 + Math.floor(random() * 50), masked: false },
    { references: 5, presses: () => 50, masked: true },
  ]
}

const IMPOSTORS_PER_PERSON = 45

const cut = (session: Session, presses: number, masked: boolean): Uint8Array =>
  masked
    ? encodeSample(
        session.slice(0, presses).map((press) => ({ ...press, key: 0 })),
        'sensitive',
      )
    : encodeSample(session.slice(0, presses), 'visible')

/** Grows a row-major matrix without an array of arrays. */
function collector(width: number) {
  let rows = new Float32Array(width * 4096)
  const labels: number[] = []
  return {
    add(row: Float32Array, label: 0 | 1): void {
      if ((labels.length + 1) * width > rows.length) {
        const larger = new Float32Array(rows.length * 2)
        larger.set(rows)
        rows = larger
      }
      rows.set(row, labels.length * width)
      labels.push(label)
    },
    done: (): Examples => ({ width, rows: rows.subarray(0, labels.length * width), labels: Uint8Array.from(labels) }),
  }
}

/**
 * Genuine and impostor comparisons for the fusion, through the kernel: each person against own and foreign probes, with
 * several random choices of references. `models` are alternate model files, one a fold of `people` (person i takes
 * model i modulo their number), each fitted without its fold, so that the fusion learns how they do on strangers.
 */
export function comparisonExamples(
  wasm: Uint8Array,
  models: readonly Uint8Array[],
  people: readonly Person[],
  seed: number,
): Examples {
  const random = seededRandom(seed)
  let collected: ReturnType<typeof collector> | undefined
  for (const round of roundsOf(random)) {
    models.forEach((model, fold) => {
      const kernel = createKernel(wasm, model)
      const own = people.filter((_, i) => i % models.length === fold)
      const sessionsOf = own.map(({ sessions }) => shuffled([...sessions.values()], random))
      sessionsOf.forEach((sessions, person) => {
        const presses = round.presses()
        const references = sessions.slice(0, round.references)
        for (const [i, session] of references.entries()) kernel.read(i + 1, cut(session, presses, round.masked))
        kernel.enroll(references.length)
        const compare = (session: Session, label: 0 | 1): void => {
          kernel.read(0, cut(session, presses, round.masked))
          const row = kernel.compare(references.length)
          collected ??= collector(row.length)
          collected.add(row, label)
        }
        for (const session of sessions.slice(round.references)) compare(session, 1)
        for (let i = 0; i < IMPOSTORS_PER_PERSON; i++) {
          const other = Math.floor(random() * sessionsOf.length)
          const session = sessionsOf[other]?.[Math.floor(random() * (sessionsOf[other]?.length ?? 0))]
          if (other !== person && session !== undefined) compare(session, 0)
        }
      })
    })
  }
  if (collected === undefined) throw new Error('nobody to fit on')
  return collected.done()
}

/** Sincere sessions (0) and every species of synthetic ones (1), cut to random lengths, as the kernel's bot signs. */
export function livenessExamples(
  wasm: Uint8Array,
  model: Uint8Array,
  people: readonly Person[],
  seed: number,
): Examples {
  const random = seededRandom(seed)
  const kernel = createKernel(wasm, model)
  let collected: ReturnType<typeof collector> | undefined
  const examine = (session: Session, label: 0 | 1): void => {
    if (session.length < 15) return
    kernel.read(0, encodeSample(session, 'visible'))
    const row = kernel.examine()
    collected ??= collector(row.length)
    collected.add(row, label)
  }
  const length = (): number => (random() < 0.5 ? 64 : 15 + Math.floor(random() * 50))
  // One session of a hundred people: some 5,000 times, since every synthetic pattern takes their moments anew.
  const population = timesOf(people.slice(0, 100).flatMap(({ sessions }) => [...sessions.values()].slice(0, 1)))
  for (const { sessions } of people) {
    const all = [...sessions.values()]
    const user = timesOf(all.slice(0, 5))
    for (const session of all) {
      examine(session.slice(0, length()), 0)
      examine(disturbed(session, random).slice(0, 15 + Math.floor(random() * 50)), 0)
    }
    for (const species of SPECIES) {
      const plain = all[Math.floor(random() * all.length)] ?? []
      const text = random() < 0.5 ? plain : disturbed(plain, random)
      const grid = random() < 0.5 ? 1 : 0.1
      const source = species.startsWith('S6') || random() < 0.3 ? user : population
      examine(synthesize(species, text.slice(0, length()), source, grid, random), 1)
    }
  }
  if (collected === undefined) throw new Error('nobody to fit on')
  return collected.done()
}
