import { describe, it } from 'vitest'
import { coreRoutes } from '../../src/api/core-table.js'
import { seededRandom } from '../../src/calibration/random.js'
import { normalizeUserRef } from '../../src/domain/user-ref.js'
import { segmentsOf } from '../../src/http/intake/request-line.js'
import type { Route } from '../../src/http/route.js'
import { makeRouter } from '../../src/http/router.js'
import { figure, LONG } from './figure.js'

const TEXTS = LONG ? 1_000_000 : 100_000
const PATHS = 5_000
const random = seededRandom(20_261_121)
const below = (n: number) => Math.floor(random() * n)
const oneOf = <T>(all: readonly T[]): T => all[below(all.length)] as T // there is one

/** Characters that look like others (alphabets, ligatures, widths, marks) or whose case mapping is ASCII. */
const LOOKALIKES = [
  ...['\u212a', '\u017f', '\u0130', '\u0131', '\u00df', '\ufb01', '\uff41', '\u0430', '\u03bf', '\u00e9', 'e\u0301'],
  ...['\u200b', '\u00ad', '\ufeff', '\u2010', '\u00a0', '\u3000', '\u2024', '\uff20', '\ud800', '\u{1d41a}'],
]
const PLAIN = [...'aAbBkKsSiIzZ09', '-', '.', '_', '@', '+', ' ']
const CONTROLS = ['\0', '\t', '\n', '\r', '\u007f', '/', '\\', '%', '%2f', '%00', '..', ':', '"', "'", '<']

function text(): string {
  const length = 1 + below(6)
  let made = ''
  for (let i = 0; i < length; i++) {
    const kind = random()
    if (kind < 0.75) made += oneOf(PLAIN)
    else if (kind < 0.88) made += oneOf(LOOKALIKES)
    else if (kind < 0.96) made += oneOf(CONTROLS)
    else made += String.fromCodePoint(below(0x110000))
  }
  return made
}

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
    for (let i = 0; i < TEXTS; i++) {
      const given = text()
      const ref = normalizeUserRef(given)
      if (ref === null) continue
      taken++
      if (normalizeUserRef(ref) !== ref) unsteady++
      const known = folds.get(ref)
      if (known === undefined) folds.set(ref, fold(given))
      else if (known !== fold(given)) confused++
    }
    const found = `${confused} unlike texts of ${TEXTS.toLocaleString('en')} folded into one (${taken.toLocaleString('en')} taken), ${unsteady} change when read again`
    figure('T23', found, '0 and 0', taken > TEXTS / 20 && confused + unsteady === 0)
  }, 120_000)

  it('is reached only by the path of the same name', () => {
    const router = makeRouter<Route<never>>()
    for (const row of coreRoutes as readonly Route<never>[]) router.add(row.method, row.path, row)
    const pieces = [
      '..',
      '.',
      '/',
      '\\',
      '\0',
      '%',
      '%2f',
      '%2e',
      '%252f',
      'verify',
      'members',
      'a',
      ' ',
      '?',
      '#',
      ';',
      'é',
    ]
    const encodings = [
      (one: string) => encodeURIComponent(one),
      (one: string) => encodeURIComponent(encodeURIComponent(one)),
      (one: string) => [...Buffer.from(one)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join(''),
    ]
    let [confused, refused] = [0, 0]
    for (let i = 0; i < PATHS; i++) {
      const parts = Array.from({ length: 1 + below(4) }, () => oneOf(pieces))
      const encode = oneOf(encodings)
      const segment = parts.map((part) => encode(part)).join('')
      const segments = segmentsOf(`/users/${segment}/verify`)
      const found = router.find(segments)
      const path = found?.byMethod.get('post')?.row.path
      const value = found?.values[0] ?? ''
      // Dots are not resolved, an escaped slash stays in its segment, and nothing is decoded twice.
      if (path !== '/users/{userRef}/verify' || value !== decodeURIComponent(segment)) confused++
      if (normalizeUserRef(value) === null) refused++
    }
    const found = `${confused} of ${PATHS.toLocaleString('en')} escaped paths confused, ${refused} refused as names`
    figure('T23', found, '0 confused', confused === 0 && refused > PATHS / 2)
  })
})
