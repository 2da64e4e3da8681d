import { userNotFound } from '../../domain/refusal.js'
import type { Language } from '../../domain/typing-words.js'
import type { AccountStore } from '../../storage/account.js'
import type { PreferredLanguageStore } from '../../storage/preferred-language.js'
import { type Designation, findPerson, type Person } from '../session/person.js'

interface Needs {
  readonly accounts: AccountStore
  readonly preferredLanguages: PreferredLanguageStore
}

export type PreferLanguage = (who: Designation, language: Language | null) => Promise<Person>

/** Sets the language of a member's words to type, or clears it with null. It has priority over every other language setting. */
export function createPreferLanguage(needs: Needs): PreferLanguage {
  return async (who, language) => {
    const { account, member } = await findPerson(needs.accounts, who)
    if (!(await needs.preferredLanguages.set(who.organizationId, member.id, language))) throw userNotFound()
    return { account, member: { ...member, preferredLanguage: language } }
  }
}
