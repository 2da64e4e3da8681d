import type { Language } from '../domain/typing-words.js'
import { de } from './sso-texts/de.js'
import { en } from './sso-texts/en.js'
import { es } from './sso-texts/es.js'
import { fr } from './sso-texts/fr.js'
import { it } from './sso-texts/it.js'
import { nl } from './sso-texts/nl.js'
import { pt } from './sso-texts/pt.js'
import type { SsoTexts } from './sso-texts/texts.js'

export const SSO_TEXTS: Readonly<Record<Language, SsoTexts>> = { en, fr, de, es, it, pt, nl }
