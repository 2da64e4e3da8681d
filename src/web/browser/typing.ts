/** The form in which words are typed: shows the words, marks them during typing, and passes on the recorder's pattern. */
import type { TypingTexts } from './page-data.js'
import { createRecorder, type TypingPattern, type Unusable } from './recorder.js'

interface Typing {
  /** Begins a pattern with these words. */
  show(words: readonly string[], language: string): void
  /** Begins the same words again, and shows the reason. */
  again(text: string): void
  /** Shows a text below the field; screen readers read it out. */
  say(text: string, tone?: Tone): void
}
type Tone = 'calm' | 'warn'

interface Handlers {
  /** Called with a complete pattern; typing is blocked until the promise settles. */
  readonly onPattern: (pattern: TypingPattern) => Promise<void>
  /** Called with the typed share of the words, 0 to 1. */
  readonly onPart: (share: number) => void
}

/** The element of an id; throws if the page has none. */
export function at<E extends HTMLElement = HTMLElement>(id: string): E {
  const found = document.getElementById(id)
  if (found === null) throw new Error(`the page has no #${id}`)
  // Sound: the page's template and this module are written together.
  return found as E
}

/** A text with its placeholders replaced. */
export const filled = (text: string, values: Readonly<Record<string, string | number>>): string =>
  text.replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole))

const reasonsIn = (texts: TypingTexts): Readonly<Record<Unusable, string>> => ({
  empty: texts.wordsLeft,
  tooShort: texts.wordsLeft,
  noKeyEvents: texts.noKeys,
  composition: texts.noKeys,
  pasted: texts.pasted,
  dropped: texts.pasted,
  autofilled: texts.filled,
  inserted: texts.inserted,
  incomplete: texts.again,
  coarseTimer: texts.coarseClock,
  paused: texts.paused,
  tooLong: texts.again,
})

/** Reasons that may go away with further typing. */
const GOES_ON: readonly Unusable[] = ['empty', 'tooShort', 'incomplete', 'coarseTimer']

export function createTyping(texts: TypingTexts, { onPattern, onPart }: Handlers): Typing {
  const [list, input, hint, form] = [
    at('words'),
    at<HTMLInputElement>('typed'),
    at('hint'),
    at<HTMLFormElement>('typing'),
  ]
  let expected: string[] = []
  let busy = false

  const reasons = reasonsIn(texts)
  const recorder = createRecorder({
    inputs: [input],
    mode: 'visible',
    onChange({ unusable }) {
      // Text that was not typed is never sent. Begins again after the browser has handled the event.
      if (unusable !== null && !GOES_ON.includes(unusable)) setTimeout(() => typing.again(reasons[unusable]))
    },
  })

  function say(text: string, tone: Tone = 'calm'): void {
    hint.dataset.tone = tone
    if (hint.textContent !== text) hint.textContent = text
  }

  function begin(): void {
    input.value = ''
    recorder.reset()
    follow()
  }

  /** Marks each word by the text typed for it, and names the first wrong one. */
  function follow(): void {
    const typed = tokensOf(input.value)
    const marks = marksOf(expected, typed)
    for (const [i, mark] of marks.entries()) showMark(list.children[i], mark, expected[i] ?? '', typed[i] ?? '')
    onPart(marks.filter((mark) => mark === 'done').length / Math.max(1, expected.length))
    const wrong = marks.indexOf('wrong')
    if (wrong >= 0) say(filled(texts.mistyped, { typed: typed[wrong] ?? '', word: expected[wrong] ?? '' }), 'warn')
    else if (input.value !== '') say('')
  }

  /** The text about the first word that is missing or wrong; null if all are typed. */
  function problemOf(typed: readonly string[]): string | null {
    const wrong = expected.findIndex((word, i) => !isClose(word, typed[i] ?? ''))
    if (wrong < 0) return null
    const [word = '', token = ''] = [expected[wrong], typed[wrong]]
    return token === '' || wrong === typed.length - 1 ? texts.wordsLeft : filled(texts.mistyped, { typed: token, word })
  }

  async function submit(): Promise<void> {
    const problem = problemOf(tokensOf(input.value))
    if (problem !== null) {
      say(problem, 'warn')
      return
    }
    const { pattern, unusable } = recorder.take()
    if (unusable !== null) {
      typing.again(reasons[unusable])
      return
    }
    busy = true
    input.readOnly = true
    form.setAttribute('aria-busy', 'true')
    say(texts.sending)
    try {
      await onPattern(pattern)
    } finally {
      busy = false
      input.readOnly = false
      form.removeAttribute('aria-busy')
    }
  }

  // A device with only a touch screen has an on-screen keyboard; most of those report no keys. A mouse suggests a keyboard.
  at('touch').hidden = !matchMedia('(pointer: coarse)').matches || matchMedia('(any-pointer: fine)').matches
  input.addEventListener('input', follow)
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    if (!busy) void submit()
  })

  const typing: Typing = {
    show(words, language) {
      // One entry of an organization's own words may hold several words.
      expected = words.flatMap((word) => word.split(' '))
      list.lang = language
      list.replaceChildren(...expected.map(wordElement))
      begin()
    },
    again(text) {
      begin()
      say(text, 'warn')
      input.focus()
    },
    say,
  }
  return typing
}

function wordElement(): HTMLElement {
  const word = document.createElement('li')
  word.append(document.createElement('b'), document.createElement('span'))
  return word
}

type Mark = 'todo' | 'now' | 'done' | 'wrong'

function showMark(element: Element | undefined, mark: Mark, word: string, typed: string): void {
  if (!(element instanceof HTMLElement)) return
  element.dataset.mark = mark
  const right = mark === 'now' ? sharedStart(word, typed) : 0
  const [head, tail] = [...element.children]
  if (head) head.textContent = word.slice(0, right)
  if (tail) tail.textContent = word.slice(right)
}

/** Judges words that a space ends. The word being typed is not judged, unless it is right already. */
function marksOf(expected: readonly string[], typed: readonly string[]): Mark[] {
  const last = typed.length - 1
  return expected.map((word, i) => {
    const token = typed[i] ?? ''
    if (i > last) return 'todo'
    if (i === last) return token === folded(word) ? 'done' : 'now'
    return isClose(word, token) ? 'done' : 'wrong'
  })
}

/** The words typed so far, case-folded; the last one is empty after a space. */
const tokensOf = (value: string): string[] => folded(value).trimStart().split(/\s+/)
const folded = (text: string): string => text.normalize('NFC').toLowerCase()

function sharedStart(word: string, typed: string): number {
  const wanted = folded(word)
  let length = 0
  while (length < typed.length && typed[length] === wanted[length]) length++
  return length
}

/** Accepts small slips: the rhythm counts, not the spelling. */
function isClose(word: string, typed: string): boolean {
  const wanted = folded(word)
  if (typed === wanted) return true
  const slips = wanted.length >= 8 ? 2 : wanted.length >= 4 ? 1 : 0
  return slips > 0 && Math.abs(wanted.length - typed.length) <= slips && distance(wanted, typed) <= slips
}

/** Edit distance with insertion, deletion, substitution and transposition (Damerau 1964, each position edited once). */
function distance(a: string, b: string): number {
  let [before, last] = [[] as number[], Array.from({ length: b.length + 1 }, (_, j) => j)]
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1
      let least = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + same)
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        least = Math.min(least, (before[j - 2] ?? 0) + 1)
      row.push(least)
    }
    ;[before, last] = [last, row]
  }
  return last[b.length] ?? 0
}
