import type { Language } from '../domain/typing-words.js'

/** The language that a member chose for the typing widget; reads come with the `Member`. */
export interface PreferredLanguageStore {
  /** Sets the language; null clears it. False if the member is gone. */
  set(organizationId: string, memberId: string, language: Language | null): Promise<boolean>
}
