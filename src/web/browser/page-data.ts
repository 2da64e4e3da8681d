/** The input of a page's module, as JSON in `data-page`. Only types; both sides are checked against them. */

/** The page's own texts about the typing form; `<keystride-typing>` has the others. Braces hold placeholders. */
interface TypingTexts {
  readonly next: string
  /**
   * No pattern is taken until `{when}`, such as `in 10 minutes`: after too many refused ones, or in the interval of the policy. The
   * answer does not name the cause, so the text is true for both.
   */
  readonly wait: string
  /** The pattern was stored, and the next one is taken `{when}`. */
  readonly later: string
  readonly trouble: string
  readonly retry: string
  readonly saved: string
}

/** A heading and a sentence under it. */
interface Saying {
  readonly title: string
  readonly text: string
}

/** Texts of the page for trying the product. Braces hold placeholders. */
interface TryTexts {
  readonly pageTitle: string
  readonly title: string
  readonly lead: string
  readonly somebodyElse: string
  readonly you: string
  readonly pairs: string
  readonly pairsHelp: string
  readonly keys: string
  readonly weight: string
  readonly usual: string
  readonly here: string
  readonly notTheSum: string
  readonly again: string
  readonly friend: string
  readonly history: string
  readonly forget: string
  readonly complete: string
  readonly yourTurn: string
  readonly friendsTurn: string
  /** `{result}`. */
  readonly youTried: string
  /** `{result}`. */
  readonly friendTried: string
  readonly notScored: string
  /** `{percent}`. */
  readonly confidence: string
  /** `{seconds}`. */
  readonly locked: Saying
  readonly machine: Saying
  readonly replay: Saying
  readonly recognized: string
  readonly unsure: string
  /** `{confidence}`. */
  readonly unsureHelp: string
  readonly rejected: string
  /** `{weight}`. */
  readonly spokeFor: string
  /** `{weight}`. */
  readonly spokeAgainst: string
}

export interface TryPageData {
  readonly typing: TypingTexts
  readonly trying: TryTexts
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

/** A page of single sign-on. */
export interface SsoPageData {
  /** Address that the browser opens by itself; null if none. */
  readonly onward: string | null
  /** Reason to type the same words again; null if none. */
  readonly again: string | null
}
