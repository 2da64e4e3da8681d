import type { SsoSituation } from '../domain/sso-code.js'
import type { Language } from '../domain/typing-words.js'
import type { Saying } from './browser/page-data.js'
import type { SsoView } from './sso-page.js'
import { de } from './sso-texts/de.js'
import { en } from './sso-texts/en.js'
import { es } from './sso-texts/es.js'
import { fr } from './sso-texts/fr.js'
import { it } from './sso-texts/it.js'
import { nl } from './sso-texts/nl.js'
import { pt } from './sso-texts/pt.js'

/** The texts of the bridge in one language. */
export interface SsoTexts {
  readonly steps: Readonly<Record<SsoView['heading'], Saying>>
  readonly notes: Readonly<Record<SsoSituation, string>>
  readonly name: string
  readonly code: string
  readonly password: string
  /** `{address}`. */
  readonly sentTo: string
  readonly send: string
  readonly sendAgain: string
  /** `{minutes}`. */
  readonly wait: string
  /** `{minutes}`. */
  readonly locked: string
  readonly reset: string
  readonly retry: string
  readonly cancel: string
  readonly ended: Saying
  readonly failed: Saying
  readonly signOut: Saying & { readonly yes: string }
  readonly signedOut: Saying
  readonly mail: {
    /** `{host}`. */
    readonly subject: string
    /** `{password}`, `{minutes}`, `{host}`. */
    readonly text: string
  }
}

export const SSO_TEXTS: Readonly<Record<Language, SsoTexts>> = { en, fr, de, es, it, pt, nl }
