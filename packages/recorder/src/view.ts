/** The shadow tree of the element: its nodes, and what they show. Sets no markup, so that a page may require trusted types. */
import { style } from './style.js'
import { filled, type Texts } from './texts/texts.js'
import { type Mark, marksOf, sharedStart } from './words.js'

export type Tone = 'calm' | 'warn'

export interface View {
  readonly input: HTMLInputElement
  /** Writes the texts of a language. */
  write(texts: Texts): void
  /** Shows the words, none of them typed. */
  words(words: readonly string[], language: string): void
  /** Marks each word by the text typed for it; returns the index of the first wrong one, or -1. */
  follow(words: readonly string[], typed: readonly string[]): number
  /** Shows that `done` of `target` patterns are complete; nothing if `target` is 0. */
  progress(done: number, target: number, count: string): void
  /** Shows a text below the field; screen readers read it out. */
  say(text: string, tone: Tone): void
  text(): string
}

/** An element with attributes and children. */
function node<N extends keyof HTMLElementTagNameMap>(
  name: N,
  attributes: Readonly<Record<string, string>> = {},
  ...children: readonly Node[]
): HTMLElementTagNameMap[N] {
  const made = document.createElement(name)
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value)
  made.append(...children)
  return made
}

/** The element of one part: its id, and its name for `::part`. */
const part = <N extends keyof HTMLElementTagNameMap>(
  name: N,
  id: string,
  more: Readonly<Record<string, string>> = {},
) => node(name, { id, part: id, ...more })

/** A device with only a touch screen has an on-screen keyboard; most of those report no keys. A mouse suggests a keyboard. */
const isTouchOnly = (): boolean => matchMedia('(pointer: coarse)').matches && !matchMedia('(any-pointer: fine)').matches

/** Builds the nodes in a shadow root. */
export function createView(root: ShadowRoot): View {
  const sheet = new CSSStyleSheet()
  sheet.replaceSync(style)
  root.adoptedStyleSheets = [sheet]
  const touch = part('p', 'touch', { role: 'note' })
  const count = part('p', 'count', { 'aria-live': 'polite' })
  const steps = part('ol', 'steps', { 'aria-hidden': 'true' })
  const list = part('ol', 'words', { translate: 'no' })
  const label = part('label', 'label', { for: 'typed' })
  const input = part('input', 'typed', INPUT)
  const help = part('p', 'help')
  const hint = part('p', 'hint', { role: 'status' })
  const [title, items] = [node('summary'), node('ul')]
  const recorded = part('details', 'recorded')
  recorded.append(title, items)
  touch.hidden = !isTouchOnly()
  // A button of the page, a child of the element, stands between the field and the disclosure.
  root.append(touch, count, steps, list, label, input, help, hint, node('slot'), recorded)

  return {
    input,
    write(texts) {
      touch.textContent = texts.phone
      list.setAttribute('aria-label', texts.words)
      label.textContent = texts.label
      help.textContent = texts.help
      title.textContent = texts.recordedTitle
      items.replaceChildren(...texts.recorded.map((text) => node('li', {}, new Text(text))))
    },
    words(words, language) {
      list.lang = language
      list.replaceChildren(...words.map(() => node('li', { part: 'word' }, node('b'), node('span'))))
    },
    follow(words, typed) {
      const marks = marksOf(words, typed)
      for (const [i, mark] of marks.entries()) showMark(list.children[i], mark, words[i] ?? '', typed[i] ?? '')
      const done = marks.filter((mark) => mark === 'done').length
      steps.style.setProperty('--part', String(done / Math.max(1, words.length)))
      return marks.indexOf('wrong')
    },
    progress(done, target, text) {
      count.hidden = steps.hidden = target === 0
      count.textContent = filled(text, { n: Math.min(done + 1, target), of: target })
      const step = (_: unknown, i: number) => node('li', { class: i < done ? 'done' : i === done ? 'now' : '' })
      steps.replaceChildren(...Array.from({ length: target }, step))
    },
    say(text, tone) {
      hint.dataset.tone = tone
      if (hint.textContent !== text) hint.replaceChildren(...text.split(QUOTED).map(untranslated))
    },
    text: () => hint.textContent ?? '',
  }
}

/** A word in the quotation marks of any of the languages. */
const QUOTED = /([“„«][^“”„«»]+[“”»])/

/** Every second part is a quoted word, which a browser that translates the page must leave as it is. */
const untranslated = (text: string, i: number): Node =>
  i % 2 === 0 ? new Text(text) : node('span', { translate: 'no' }, new Text(text))

const INPUT = {
  type: 'text',
  autocomplete: 'off',
  autocapitalize: 'off',
  autocorrect: 'off',
  spellcheck: 'false',
  enterkeyhint: 'done',
  'aria-describedby': 'help hint',
}

function showMark(element: Element | undefined, mark: Mark, word: string, typed: string): void {
  if (!(element instanceof HTMLElement)) return
  element.dataset.mark = mark
  const right = mark === 'now' ? sharedStart(word, typed) : 0
  const [head, tail] = [...element.children]
  if (head) head.textContent = word.slice(0, right)
  if (tail) tail.textContent = word.slice(right)
}
