import { loadPeople, type Session } from '../../src/calibration/dataset.js'
import { person } from '../../src/typist/made-up-person.js'
import { type Stroke, strokes } from '../recorder/browser.js'

/** Types texts the way one person does, another time each call. */
export type Hand = (text: string) => Stroke[]

const folder = process.env.KEYSTRIDE_DATA_SETS ?? ''
/** Two of these are longer than a suggestion, which is 40 to 55 presses. */
const PRESSES_MIN = 30
const SESSIONS_MIN = 14

let people: readonly (readonly Session[])[] | null = null

/** Somebody made up, who has habits with pairs of keys. */
export function madeUpHand(one: number): Hand {
  let typed = 0
  return (text) => {
    typed++
    return person(7000 + one).types(text, typed).kevt as unknown as Stroke[]
  }
}

/** With the times of somebody in the open data (two of their sessions a text), else of somebody made up. */
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

/** Goes on where the other session ended. */
function later(session: Session, other: Session): Session {
  const byMs = (other.at(-1)?.pressMs ?? 0) + 200 - (session[0]?.pressMs ?? 0)
  return session.map((press) => ({ ...press, pressMs: press.pressMs + byMs, releaseMs: press.releaseMs + byMs }))
}

/** Without the pauses that make a pattern to be begun again, and without keys held on. */
const steady = (session: Session): boolean =>
  session.every(
    ({ pressMs, releaseMs }, i) =>
      releaseMs > pressMs && releaseMs - pressMs < 1500 && pressMs - (session[i - 1] ?? { pressMs }).pressMs < 6000,
  )

/** The text at a session's times, press by press; a letter goes down again only after it came up. */
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
