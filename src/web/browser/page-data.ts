/** What a page hands to its module, as JSON in `data-page`; types alone, so that both sides are checked against them. */

/** What is said while somebody types. What stands in braces is filled in. */
export interface TypingTexts {
  readonly words: string
  readonly label: string
  readonly help: string
  readonly next: string
  /** `{typed}` came for `{word}`. */
  readonly mistyped: string
  readonly wordsLeft: string
  readonly sending: string
  readonly pasted: string
  readonly filled: string
  readonly inserted: string
  readonly noKeys: string
  readonly coarseClock: string
  readonly paused: string
  readonly again: string
  readonly machine: string
  readonly seenBefore: string
  /** `{minutes}`. */
  readonly wait: string
  readonly trouble: string
  readonly retry: string
  /** Pattern `{n}` of `{of}`. */
  readonly count: string
  readonly saved: string
}

export interface PatternsSoFar {
  readonly nPatterns: number
  readonly targetPatterns: number
  readonly suggestedWords: readonly string[]
  readonly suggestedWordsLanguage: string
}

export interface LinkPageData extends PatternsSoFar {
  readonly typing: TypingTexts
  /** `{host}`. */
  readonly leaving: string
  /** `{host}`. */
  readonly onward: string
}
