/** The texts of the element in one language. Braces hold placeholders. */
export interface Texts {
  /** Pattern `{n}` of `{of}`. */
  readonly count: string
  readonly words: string
  readonly label: string
  readonly help: string
  /** `{typed}` was typed for `{word}`. */
  readonly mistyped: string
  readonly wordsLeft: string
  readonly sending: string
  readonly pasted: string
  readonly filled: string
  readonly inserted: string
  /** An input method composed characters. */
  readonly composed: string
  readonly noKeys: string
  /** Shown before the first key press on a device with only a touch screen. */
  readonly phone: string
  readonly coarseClock: string
  readonly paused: string
  readonly again: string
  readonly machine: string
  readonly seenBefore: string
  readonly recordedTitle: string
  readonly recorded: readonly string[]
}

/** A text with its placeholders replaced. */
export const filled = (text: string, values: Readonly<Record<string, string | number>>): string =>
  text.replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole))
