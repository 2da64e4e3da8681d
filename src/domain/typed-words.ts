import type { KeyPress } from './key-press.js'
import { keyName, keyOfCode } from './key-table.js'

/** Whether a pattern types the words that its session was issued; `masked` if its keys are masked, so that its text is unknown. */
export const TYPED_WORDS = ['issued', 'other', 'masked'] as const
export type TypedWords = (typeof TYPED_WORDS)[number]

const BACKSPACE = keyOfCode('Backspace')
const SPACE = keyOfCode('Space')
const CONTROL = keyOfCode('ControlLeft')
const ALT = keyOfCode('AltLeft')
const META = keyOfCode('MetaLeft')
/** Keys that write nothing. */
const SILENT: ReadonlySet<number> = new Set(
  (
    'Enter Tab ShiftLeft ControlLeft AltLeft MetaLeft CapsLock NumLock Escape ContextMenu ArrowLeft ArrowUp ArrowRight ArrowDown ' +
    'Delete Home End PageUp PageDown Insert'
  )
    .split(' ')
    .map(keyOfCode),
)

/**
 * Letters that the layouts of the supported languages have on other keys than the English one, by the English key. Only a client
 * that sends no legacy code needs them: its `c` names a position, while the legacy code names the letter.
 */
const LAYOUTS: readonly Readonly<Record<string, string>>[] = [
  {},
  { a: 'q', q: 'a', w: 'z', z: 'w', Semicolon: 'm' },
  { y: 'z', z: 'y' },
]
/** The letter or digit of each key in each layout; empty for every other key. */
const CHARACTERS: readonly (readonly string[])[] = LAYOUTS.map((moved) =>
  Array.from({ length: 128 }, (_, key) => {
    const name = keyName(key)?.replace(/^Numpad(?=\d$)/, '') ?? ''
    return moved[name] ?? (/^[a-z0-9]$/.test(name) ? name : '')
  }),
)

/**
 * Shortest hold of Backspace that may have deleted several characters: a recorder leaves auto-repeat out, and systems begin it
 * after a quarter of a second or later.
 */
const REPEATS_FROM_MS = 225
/** Most readings of an ambiguous text that are tracked. More than ten are rare: each place where a held Backspace may have stopped adds one. */
const READINGS_MAX = 64
/** Letters without a decomposition into a base letter and marks. */
const BASE_LETTERS: Readonly<Record<string, string>> = Object.fromEntries(
  'ßss æae œoe øo đd ðd þth ħh ıi ĳij ĸk łl ŉn ŋn ŧt ſs'
    .split(' ')
    .map(([letter = '', ...base]) => [letter, base.join('')]),
)

/** One letter or digit to type. */
interface Wanted {
  readonly base: string
  /** Letters of `base` form that a key of its own types at once, such as é, ñ or ß; 0 for a plain letter or digit. */
  readonly own: number
}

/**
 * Whether key presses type the words: their letters and digits in order, ignoring case, after what Backspace deletes. Spaces, marks and
 * keys without a letter are ignored. A letter with an accent is typed by its base letter (a dead key goes before it, or AltGr is
 * held), or by one key without a letter of the English layout, as é and ß are on a national one. Deletions are
 * limited to as many presses as the words have letters, so that a text of any length is not hidden before them.
 *
 * `keys` are indices in the canonical key table; `presses` gives the same presses with times, and is called only if keys were
 * deleted or mistyped. A text without mistakes costs one comparison a key.
 */
export function typesWords(words: readonly string[], keys: Uint8Array, presses: () => readonly KeyPress[]): boolean {
  const wanted = wantedOf(words)
  if (wanted.length === 0) return false
  if (typesAtOnce(wanted, keys)) return true
  // This check comes first, because a hostile text of held Backspaces would take milliseconds.
  if (written(keys) > 2 * wanted.length) return false
  const typed = presses()
  return CHARACTERS.some((characters) => typesCorrected(wanted, typed, characters))
}

/** The letters and digits of a text, without case, accents and marks: all that has to be typed of it. */
export const plainLetters = (text: string): string =>
  wantedOf([text])
    .map(({ base }) => base)
    .join('')

function wantedOf(words: readonly string[]): Wanted[] {
  const wanted: Wanted[] = []
  for (const word of words)
    for (const letter of word.toLowerCase()) {
      const plain = letter <= '\u007f'
      if (plain && !/[a-z0-9]/.test(letter)) continue
      const base = plain ? letter : (BASE_LETTERS[letter] ?? letter.normalize('NFD').charAt(0))
      for (let i = 0; i < base.length; i++) wanted.push({ base: base.charAt(i), own: plain || i > 0 ? 0 : base.length })
    }
  return wanted
}

/** Whether the keys type the words without a deletion, a shortcut or a letter on a key of its own. */
function typesAtOnce(wanted: readonly Wanted[], keys: Uint8Array): boolean {
  const characters = CHARACTERS[0] ?? []
  let right = 0
  for (const key of keys) {
    if (key === BACKSPACE || key === CONTROL || key === META) return false
    const character = characters[key] ?? ''
    if (character === '') continue
    if (character !== wanted[right]?.base) return false
    right++
  }
  return right === wanted.length
}

/** Number of letters and deletions. */
function written(keys: Uint8Array): number {
  let n = 0
  for (const key of keys) if (key === BACKSPACE || (CHARACTERS[0]?.[key] ?? '') > '9') n++
  return n
}

/** A possible text of the field after a press: its length is the number of its ancestors. */
interface WordReading {
  readonly before: WordReading | null
  /** Number of wanted letters that the text begins with, and of letters after them. */
  readonly right: number
  readonly wrong: number
}
const EMPTY: WordReading = { before: null, right: 0, wrong: 0 }

function typesCorrected(
  wanted: readonly Wanted[],
  presses: readonly KeyPress[],
  characters: readonly string[],
): boolean {
  let readings: readonly WordReading[] = [EMPTY]
  let together = 0
  let [shortcutUntil, altUntil] = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY]
  let [selected, many] = [false, false]
  for (const { key, pressMs, releaseMs } of presses) {
    // Windows reports AltGr as Control and Alt.
    const isShortcut = pressMs < shortcutUntil && pressMs >= altUntil
    if (key === CONTROL || key === META) shortcutUntil = releaseMs
    else if (key === ALT) altUntil = releaseMs
    if (key === BACKSPACE) {
      together++
      many ||= selected || isShortcut || pressMs < altUntil || releaseMs - pressMs >= REPEATS_FROM_MS
      selected = false
    } else if (isShortcut) selected = true
    else if (!SILENT.has(key)) {
      if (together > 0) readings = deleted(readings, together, many)
      ;[together, many] = [0, false]
      const character = characters[key] ?? ''
      const isLetter = character > '9'
      readings = isLetter ? lettered(readings, wanted, character) : marked(readings, wanted, key, character)
    }
  }
  if (together > 0) readings = deleted(readings, together, many)
  return readings.some(({ right, wrong }) => wrong === 0 && right === wanted.length)
}

/** Deletes the last `n` characters. With `many`, may delete further ones, down to any text without a mistake. */
function deleted(readings: readonly WordReading[], n: number, many: boolean): readonly WordReading[] {
  const left = new Set<WordReading>()
  for (let reading of readings) {
    for (let i = 0; i < n; i++) reading = reading.before ?? EMPTY
    left.add(reading)
    for (let at: WordReading | null = many ? reading : null; at !== null; at = at.before)
      if (at.wrong === 0) left.add(at)
  }
  return [...left].slice(0, READINGS_MAX)
}

const lettered = (readings: readonly WordReading[], wanted: readonly Wanted[], character: string): WordReading[] =>
  readings.map((before) => {
    const { right, wrong } = before
    const isRight = wrong === 0 && accepts(wanted[right], character)
    return isRight ? { before, right: right + 1, wrong: 0 } : { before, right, wrong: wrong + 1 }
  })

/** A letter with an accent also takes its base letter where another layout has it: an input method may hide the legacy code. */
function accepts(one: Wanted | undefined, character: string): boolean {
  if (one === undefined) return false
  return one.base === character || (one.own > 0 && LAYOUTS.some((moved) => moved[character] === one.base))
}

/** A key without a letter: a space, a wanted digit, another digit or a mark, a dead key, or the own key of a letter. */
function marked(
  readings: readonly WordReading[],
  wanted: readonly Wanted[],
  key: number,
  digit: string,
): WordReading[] {
  const after: WordReading[] = []
  for (const before of readings) {
    const { right, wrong } = before
    const next = key === SPACE || wrong > 0 ? undefined : wanted[right]
    const isDigit = digit !== '' && next?.base === digit
    if (!isDigit) after.push({ before, right, wrong })
    const typed = isDigit ? 1 : (next?.own ?? 0)
    if (typed > 0) after.push({ before, right: right + typed, wrong: 0 })
  }
  return after.slice(0, READINGS_MAX)
}
