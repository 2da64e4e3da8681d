import type { LinkKind } from '../domain/profile-link.js'
import type { Language } from '../domain/typing-words.js'
import type { Saying, TryTexts, TypingTexts } from './browser/page-data.js'
import { de } from './texts/de.js'
import { en } from './texts/en.js'
import { es } from './texts/es.js'
import { fr } from './texts/fr.js'
import { it } from './texts/it.js'
import { nl } from './texts/nl.js'
import { pt } from './texts/pt.js'

/** What the pages say, in one language. */
export interface Texts {
  readonly kinds: Readonly<Record<LinkKind, Saying>>
  readonly typing: TypingTexts
  readonly trying: TryTexts
  readonly needsScript: string
  readonly recorded: { readonly title: string; readonly items: readonly string[] }
  readonly done: Saying & {
    readonly close: string
    /** `{host}`. */
    readonly leaving: string
    /** `{host}`. */
    readonly onward: string
  }
  readonly nothingLeft: Saying
  readonly gone: Saying
  readonly unavailable: Saying
  readonly language: string
}

export const TEXTS: Readonly<Record<Language, Texts>> = { en, fr, de, es, it, pt, nl }
