/** The part of a page where words are typed: shows them, follows word by word, and hands on what the recorder gives. */
import type { TypingTexts } from './page-data.js'
import { createRecorder, type TypingPattern, type Unusable } from './recorder.js'

interface Typing {
  /** Begins a pattern with these words. */
  show(words: readonly string[], language: string): void
  /** Begins the same words again, saying why. */
  again(text: string): void
  /** Says something below the field; screen readers hear it. */
  say(text: string, tone?: Tone): void
}
type Tone = 'calm' | 'warn'

interface Handlers {
  /** A pattern with all of its words; typing waits until it is settled. */
  readonly onPattern: (pattern: TypingPattern) => Promise<void>
  /** How much of the words is there, 0 to 1. */
  readonly onPart: (share: number) => void
}

/** The element of this id, which the page has. */
export function at<E extends HTMLElement = HTMLElement>(id: string): E {
  const found = document.getElementById(id)
  if (found === null) throw new Error(`the page has no #${id}`)
  // Sound: the page's template and this module are one thing, made together.
  return found as E
}

/** A text with its braces filled in. */
export const filled = (text: string, values: Readonly<Record<string, string | number>>): string =>
  text.replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole))

export function createTyping(texts: TypingTexts, { onPattern, onPart }: Handlers): Typing {
  const [list, input, hint, form] = [
    at('words'),
    at<HTMLInputElement>('typed'),
    at('hint'),
    at<HTMLFormElement>('typing'),
  ]
  let expected: string[] = []
  let busy = false

  const said: Readonly<Record<Unusable, string>> = {
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
  }
  const goesOn: readonly Unusable[] = ['empty', 'tooShort', 'incomplete', 'coarseTimer']
  const recorder = createRecorder({
    inputs: [input],
    mode: 'visible',
    onChange({ unusable }) {
      // What was not typed is never taken: begin again, once the browser is done with the event.
      if (unusable !== null && !goesOn.includes(unusable)) setTimeout(() => typing.again(said[unusable]))
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

  /** Marks each word by what was typed for it. */
  function follow(): void {
    const typed = tokensOf(input.value)
    const marks = marksOf(expected, typed)
    for (const [i, mark] of marks.entries()) {
      const word = list.children[i]
      if (!(word instanceof HTMLElement)) continue
      word.dataset.mark = mark
      const right = mark === 'now' ? sharedStart(expected[i] ?? '', typed[i] ?? '') : 0
      const [head, tail] = [...word.children]
      if (head) head.textContent = (expected[i] ?? '').slice(0, right)
      if (tail) tail.textContent = (expected[i] ?? '').slice(right)
    }
    onPart(marks.filter((mark) => mark === 'done').length / Math.max(1, expected.length))
    const wrong = marks.indexOf('wrong')
    if (wrong >= 0) say(filled(texts.mistyped, { typed: typed[wrong] ?? '', word: expected[wrong] ?? '' }), 'warn')
    else if (input.value !== '') say('')
  }

  async function submit(): Promise<void> {
    const typed = tokensOf(input.value)
    const close = expected.map((word, i) => isClose(word, typed[i] ?? ''))
    if (close.includes(false)) {
      const wrong = close.indexOf(false)
      const word = expected[wrong] ?? ''
      const left = (typed[wrong] ?? '') === '' || wrong === typed.length - 1
      say(left ? texts.wordsLeft : filled(texts.mistyped, { typed: typed[wrong] ?? '', word }), 'warn')
      return
    }
    const { pattern, unusable } = recorder.take()
    if (unusable !== null) {
      typing.again(said[unusable])
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

  // A touch screen alone means an on-screen keyboard, and most of those report no keys. A mouse suggests a real keyboard.
  at('touch').hidden = !matchMedia('(pointer: coarse)').matches || matchMedia('(any-pointer: fine)').matches
  input.addEventListener('input', follow)
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    if (!busy) void submit()
  })

  const typing: Typing = {
    show(words, language) {
      // Words of an organization's own may be several.
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

/** What a space ends is judged; what is being typed is not, unless it is right already. */
function marksOf(expected: readonly string[], typed: readonly string[]): Mark[] {
  const last = typed.length - 1
  return expected.map((word, i) => {
    const token = typed[i] ?? ''
    if (i > last) return 'todo'
    if (i === last) return token === folded(word) ? 'done' : 'now'
    return isClose(word, token) ? 'done' : 'wrong'
  })
}

/** Words as they are typed so far; after a space an empty one. Capitals do not matter. */
const tokensOf = (value: string): string[] => folded(value).trimStart().split(/\s+/)
const folded = (text: string): string => text.normalize('NFC').toLowerCase()

function sharedStart(word: string, typed: string): number {
  const wanted = folded(word)
  let length = 0
  while (length < typed.length && typed[length] === wanted[length]) length++
  return length
}

/** Small slips count as the word: how it is typed is asked for, not how it is spelled. */
function isClose(word: string, typed: string): boolean {
  const wanted = folded(word)
  if (typed === wanted) return true
  const slips = wanted.length >= 8 ? 2 : wanted.length >= 4 ? 1 : 0
  return slips > 0 && Math.abs(wanted.length - typed.length) <= slips && distance(wanted, typed) <= slips
}

/** Letters to add, drop, change, or swap with their neighbour (Damerau 1964, each place once). */
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
