import { describe, it } from 'vitest'
import { coreRoutes } from '../../src/api/core-table.js'
import { seededRandom } from '../../src/calibration/random.js'
import { normalizeUserRef } from '../../src/domain/user-ref.js'
import { segmentsOf } from '../../src/http/intake/request-line.js'
import type { Route } from '../../src/http/route.js'
import { makeRouter } from '../../src/http/router.js'
import { figure, LONG } from '../harness/figure.js'
import { randomOn } from '../simulator/scheduler.js'

const TEXTS = LONG ? 1_000_000 : 100_000
const PATHS = 5_000
const { next: random, below, pick } = randomOn(seededRandom(20_261_121))
const some = (pieces: readonly string[], most: number) => Array.from({ length: 1 + below(most) }, () => pick(pieces))

const PLAIN = [...'aAbBkKsSiIzZ09-._@+ ']
/** Characters that look like others (alphabets, ligatures, widths, marks) or whose case mapping is ASCII, and controls. */
const ODD = [
  ...['\u212a', '\u017f', '\u0130', '\u0131', '\u00df', '\ufb01', '\uff41', '\u0430', '\u03bf', '\u00e9', 'e\u0301'],
  ...['\u200b', '\u00ad', '\ufeff', '\u2010', '\u00a0', '\u3000', '\u2024', '\uff20', '\ud800', '\u{1d41a}'],
  ...['\0', '\t', '\n', '\r', '\u007f', '/', '\\', '%', '%2f', '%00', '..', ':', '"', "'", '<'],
]

/** Texts that may name the same user: they differ in ASCII case, in outer spaces, or in a space for a dash. */
const fold = (given: string) =>
  given
    .trim()
    .replace(/[A-Z]/g, (letter) => letter.toLowerCase())
    .replaceAll(' ', '-')

describe('a user', () => {
  it('is reached only by spellings of the same name', () => {
    const folds = new Map<string, string>()
    let [taken, confused, unsteady] = [0, 0, 0]
    for (let n = 0; n < TEXTS; n++) {
      const given = some(random() < 0.5 ? PLAIN : [...PLAIN, ...ODD, String.fromCodePoint(below(0x110000))], 6).join('')
      const ref = normalizeUserRef(given)
      if (ref === null) continue
      taken++
      if (normalizeUserRef(ref) !== ref) unsteady++
      if ((folds.get(ref) ?? fold(given)) !== fold(given)) confused++
      folds.set(ref, fold(given))
    }
    const found = `${confused + unsteady} of ${TEXTS.toLocaleString('en')} texts confused`
    figure('T23', found, '0 and 0', taken > TEXTS / 20 && confused + unsteady === 0)
  })

  it('is reached only by the path of the same name', () => {
    const router = makeRouter<Route<never>>()
    for (const row of coreRoutes as readonly Route<never>[]) router.add(row.method, row.path, row)
    const pieces = [
      ...['..', '.', '/', '\\', '\0', '%', '%2f', '%2e', '%252f'],
      ...['verify', 'members', 'a', ' ', '?', '#', ';', 'é'],
    ]
    const encodings = [
      (one: string) => encodeURIComponent(one),
      (one: string) => encodeURIComponent(encodeURIComponent(one)),
      (one: string) => [...Buffer.from(one)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join(''),
    ]
    let [confused, refused] = [0, 0]
    for (let n = 0; n < PATHS; n++) {
      const segment = some(pieces, 4).map(pick(encodings)).join('')
      const found = router.find(segmentsOf(`/users/${segment}/verify`))
      const path = found?.byMethod.get('post')?.row.path
      const value = found?.values[0] ?? ''
      // Dots are not resolved, an escaped slash stays in its segment, and nothing is decoded twice.
      if (path !== '/users/{userRef}/verify' || value !== decodeURIComponent(segment)) confused++
      if (normalizeUserRef(value) === null) refused++
    }
    const found = `${confused} of ${PATHS.toLocaleString('en')} escaped paths confused`
    figure('T23', found, '0 confused', confused === 0 && refused > PATHS / 2)
  })
})
