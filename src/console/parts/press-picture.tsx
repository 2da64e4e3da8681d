import type { ComparedTime, Press } from '../authentications.js'
import { count, score } from '../format.js'
import { fill, t } from '../texts.js'
import { Wide } from './wide.js'

const texts = t.authentication

/** Grades of the evidence of a press, from 2 for the person to -2 against, each with its least log likelihood ratio. */
const GRADES = [
  [2, 2],
  [1, 0.5],
  [0, -0.5],
  [-1, -2],
] as const
type Grade = 2 | 1 | 0 | -1 | -2
const gradeOf = (spokeFor: number): Grade => GRADES.find(([, from]) => spokeFor >= from)?.[0] ?? -2
const ALL_GRADES = [2, 1, 0, -1, -2] as const
const classOf = (grade: Grade): string => `g${grade + 2}`

interface PictureNeeds {
  readonly presses: readonly Press[]
  /** For each press, the probability that it was taken from an earlier typing; null if the typing is no copy. */
  readonly copied: readonly number[] | null
}

/**
 * The typing as a row of keys. The colour of a key is the grade of its evidence. Below the key are its interval and its hold, each
 * over the range of the references. A table has the same figures for people who do not see the picture.
 */
export const PressPicture = ({ presses, copied }: PictureNeeds) => (
  <>
    <ul class="legend grades" aria-hidden="true">
      {ALL_GRADES.map((grade) => (
        <li key={grade}>
          <span class={`swatch ${classOf(grade)}`} />
          {texts.legend[grade]}
        </li>
      ))}
    </ul>
    <div class="presses" aria-hidden="true">
      {presses.map((press) => (
        <Key key={press.at} press={press} repeated={(copied?.[press.at] ?? 0) > 0.5} />
      ))}
    </div>
    <details>
      <summary>{texts.table}</summary>
      <PressTable presses={presses} />
    </details>
  </>
)

/** Signs for the keys whose names do not fit on a key. */
const SIGNS: Readonly<Record<string, string>> = { Space: '␣', Backspace: '⌫', Enter: '⏎', Tab: '⇥', Shift: '⇧' }
const nameOf = ({ second, at }: Press): string => second ?? fill(texts.place, { n: at + 1 })
const symbolOf = ({ second, at }: Press): string => (second === null ? `${at + 1}` : (SIGNS[second] ?? second))

const rangeOf = (time: ComparedTime): string =>
  time.lowest_ms === null || time.highest_ms === null
    ? t.none
    : fill(texts.between, { low: ms(time.lowest_ms), high: ms(time.highest_ms) })
const ms = (value: number): string => count(Math.round(value))

interface KeyNeeds {
  readonly press: Press
  readonly repeated: boolean
}

function Key({ press, repeated }: KeyNeeds) {
  const { press_press: interval, hold, spoke_for } = press
  const line = (time: ComparedTime | null, name: string) =>
    time === null ? [] : [`${ms(time.observed_ms)} ms ${name} (${rangeOf(time)})`]
  const title = [
    `${nameOf(press)}: ${score(spoke_for)}`,
    ...line(interval, texts.interval),
    ...line(hold, texts.hold),
    ...(repeated ? [texts.repeats] : []),
  ]
  return (
    <div class={`press ${classOf(gradeOf(spoke_for))}`} title={title.join('\n')}>
      <span class={repeated ? 'cap repeated' : 'cap'}>{symbolOf(press)}</span>
      <svg viewBox="0 0 36 80" aria-hidden="true">
        <Lane x={11} time={interval} />
        <Lane x={25} time={hold} />
      </svg>
    </div>
  )
}

/** Times from 25 ms to 1.5 s on a logarithmic scale, the longest on top. */
const [LOWEST_MS, HIGHEST_MS, TOP, BOTTOM] = [25, 1500, 4, 76]
function y(time: number): number {
  const part = Math.log(Math.max(LOWEST_MS, Math.min(HIGHEST_MS, time)) / LOWEST_MS) / Math.log(HIGHEST_MS / LOWEST_MS)
  return BOTTOM - part * (BOTTOM - TOP)
}

/** A time of the press over the range of the references; a hollow point if there is no reference. */
function Lane({ x, time }: { readonly x: number; readonly time: ComparedTime | null }) {
  if (time === null) return null
  const { lowest_ms: low, highest_ms: high, observed_ms } = time
  const known = low !== null && high !== null
  const outside = known && (observed_ms < low || observed_ms > high)
  return (
    <>
      <line class="lane" x1={x} x2={x} y1={TOP} y2={BOTTOM} />
      {known && <rect class="span" x={x - 4} width={8} rx={3} y={y(high) - 1.5} height={y(low) - y(high) + 3} />}
      <circle class={known ? (outside ? 'here outside' : 'here') : 'here alone'} cx={x} cy={y(observed_ms)} r={3} />
    </>
  )
}

const HEADS = [texts.press, texts.weight, texts.intervalMs, texts.range, texts.holdMs, texts.range]

const PressTable = ({ presses }: { readonly presses: readonly Press[] }) => (
  <Wide label={texts.presses}>
    <table class="rows">
      <thead>
        <tr>
          {HEADS.map((name, i) => (
            <th key={i} scope="col" class={i === 0 ? undefined : 'figure'}>
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {presses.map((press) => (
          <tr key={press.at}>
            <th scope="row">{nameOf(press)}</th>
            <td class="figure">{score(press.spoke_for)}</td>
            <TimeCells time={press.press_press} />
            <TimeCells time={press.hold} />
          </tr>
        ))}
      </tbody>
    </table>
  </Wide>
)

const TimeCells = ({ time }: { readonly time: ComparedTime | null }) => (
  <>
    <td class="figure">{time === null ? t.none : ms(time.observed_ms)}</td>
    <td class="figure">{time === null ? t.none : rangeOf(time)}</td>
  </>
)
