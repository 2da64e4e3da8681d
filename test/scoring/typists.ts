import { normal, seededRandom } from '../../src/calibration/random.js'
import type { KeyPress } from '../../src/domain/key-press.js'
import { keyOf } from '../../src/domain/key-table.js'

const SENTENCES = [
  'the weather was fine and we went to the sea with our friends',
  'please send me the notes of the last meeting before noon today',
  'nobody knew how long the train would stand in the small station',
  'she reads two papers every morning and writes her own thoughts',
]

/**
 * The typing of a synthetic person: an individual speed, habits per key and per key pair, roll-over, pauses between words.
 * `person` seeds the habits, `session` the variation between sessions. Times in whole ms.
 */
export function typedBy(person: number, session: number, presses = 50): KeyPress[] {
  const habits = seededRandom(1000 + person)
  const speed = 0.25 * normal(habits)
  const holdSpeed = 0.2 * normal(habits)
  const holdHabit = Array.from({ length: 128 }, () => 0.15 * normal(habits))
  const pairHabit = Array.from({ length: 997 }, () => 0.3 * normal(habits))
  const random = seededRandom(person * 7919 + session + 1)
  const text = Array.from(SENTENCES[session % SENTENCES.length] ?? '').slice(0, presses)
  let now = 0
  return text.map((character, i) => {
    const key = character === ' ' ? 37 : keyOf({ c: `Key${character.toUpperCase()}` })
    const before = text[i - 1]?.charCodeAt(0) ?? 0
    const pause = before === 32 && random() < 0.3 ? 0.7 : 0
    const pair = pairHabit[(before * 31 + character.charCodeAt(0)) % 997] ?? 0
    if (i > 0)
      now += Math.max(
        30,
        Math.round(Math.exp(5 + speed + pair + pause + 0.25 * normal(random) + (random() < 0.06 ? 0.9 : 0))),
      )
    const hold = Math.exp(4.55 + holdSpeed + (holdHabit[key] ?? 0) + 0.18 * normal(random))
    return { key, pressMs: now, releaseMs: now + Math.max(20, Math.round(hold)) }
  })
}

const CODES = ['', ...Array.from('ABCDEFGHIJKLMNOPQRSTUVWXYZ', (letter) => `Key${letter}`)]
const codeOf = (key: number): string => CODES[key] ?? 'Space'

/** A pattern body with both `kevt` and `k`, as the recorder sends it. */
export function wirePattern(presses: readonly KeyPress[], mode: 'visible' | 'sensitive' = 'visible') {
  const keyOfPress = ({ key }: KeyPress) => ({ c: codeOf(key), kc: key === 37 ? 32 : 64 + key, k: 'x' })
  const events = presses
    .flatMap((press) => [
      { type: 'keydown', et: press.pressMs, ...keyOfPress(press) },
      { type: 'keyup', et: press.releaseMs, ...keyOfPress(press) },
    ])
    .sort((a, b) => a.et - b.et)
    .map((event, seqn) => ({ ...event, t: 1_700_000_000_000 + event.et, r: false, seqn }))
  return {
    version: '1.0.0',
    agent: { type: 'browser', version: '1.0.0', mode },
    ip: '203.0.113.7',
    tags: [{ k: 'app', v: 'test' }],
    kevt: events,
    k: presses.map((press) => ({ ...keyOfPress(press), et: press.pressMs, h: press.releaseMs - press.pressMs })),
  }
}

export const bytesOf = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value))
