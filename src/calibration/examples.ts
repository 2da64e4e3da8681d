import { createKernel } from '../scoring/kernel.js'
import { encodeSample } from '../scoring/sample.js'
import type { Examples } from './boosting.js'
import type { Person, Session } from './dataset.js'
import { seededRandom } from './random.js'
import { collector } from './rows.js'
import { disturbed, SPECIES, synthesize, timesOf } from './species.js'

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
