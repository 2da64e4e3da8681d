import type { LinkKind } from '../../domain/profile-link.js'
import type { Saying, TryTexts, TypingTexts } from '../browser/page-data.js'

/** The texts of the pages in one language. */
export interface Texts {
  readonly kinds: Readonly<Record<LinkKind, Saying>>
  readonly typing: TypingTexts
  readonly trying: TryTexts
  readonly needsScript: string
  readonly done: Saying & {
    readonly close: string
    /** `{host}`. */
    readonly leaving: string
    /** `{host}`. */
    readonly onward: string
  }
  readonly nothingLeft: Saying
  readonly gone: Saying
  /** For a phone or tablet whose patterns are refused. */
  readonly computer: Saying
  readonly unavailable: Saying
  readonly language: string
}
