import { loadPeople, type Session } from '../../src/calibration/dataset.js'
import { person } from '../../src/typist/made-up-person.js'
import { type Stroke, strokes } from '../recorder/browser.js'

/** Types texts as one person, with new times at each call. */
export type Hand = (text: string) => Stroke[]

const folder = process.env.KEYSTRIDE_DATA_SETS ?? ''
/** Two sessions are longer than a suggestion, which has 40 to 55 presses. */
const PRESSES_MIN = 30
const SESSIONS_MIN = 14

let people: readonly (readonly Session[])[] | null = null

/** A made-up person with habits in key pairs. `tempo` multiplies every time. */
export function madeUpHand(one: number, tempo = 1): Hand {
  let typed = 0
  return (text) => {
    typed++
    return person(7000 + one).types(text, typed, { tempo }).kevt as unknown as Stroke[]
  }
}

/** A person of the open data (two sessions a text), or a made-up person without the data. */
export function handOf(one: number): Hand {
  if (folder === '') return madeUpHand(one)
  let typed = 0
  people ??= loadPeople(folder, 'aalto').map(({ sessions }) =>
    [...sessions.values()].filter((session) => session.length >= PRESSES_MIN && steady(session)),
  )
  const sessions = people.filter((all) => all.length >= SESSIONS_MIN)[one] ?? []
  return (text) => {
    const [first, second] = [sessions[typed] ?? [], sessions[typed + 1] ?? []]
    typed += 2
    if (first.length + second.length < text.length)
      throw new Error('this person has typed all that the data has of them')
    return timed(text, [...first, ...later(second, first)])
  }
}

/** Appends the other session. */
function later(session: Session, other: Session): Session {
  const byMs = (other.at(-1)?.pressMs ?? 0) + 200 - (session[0]?.pressMs ?? 0)
  return session.map((press) => ({ ...press, pressMs: press.pressMs + byMs, releaseMs: press.releaseMs + byMs }))
}

/** Without pauses that restart a pattern, and without overlong holds. */
const steady = (session: Session): boolean =>
  session.every(
    ({ pressMs, releaseMs }, i) =>
      releaseMs > pressMs && releaseMs - pressMs < 1500 && pressMs - (session[i - 1] ?? { pressMs }).pressMs < 6000,
  )

/** The text with a session's times, press by press; a letter goes down again only after its release. */
function timed(text: string, session: Session): Stroke[] {
  const free = new Map<string, number>()
  let shiftMs = 0
  return strokes(
    [...text].map((letter, i) => {
      const { pressMs, releaseMs } = session[i] ?? { pressMs: 0, releaseMs: 0 }
      shiftMs += Math.max(0, (free.get(letter) ?? 0) - (pressMs + shiftMs))
      free.set(letter, releaseMs + shiftMs + 5)
      return [letter, pressMs + shiftMs, releaseMs + shiftMs] as const
    }),
  )
}
