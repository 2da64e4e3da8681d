import type { Language } from '../domain/typing-words.js'
import { de } from './texts/de.js'
import { en } from './texts/en.js'
import { es } from './texts/es.js'
import { fr } from './texts/fr.js'
import { it } from './texts/it.js'
import { nl } from './texts/nl.js'
import { pt } from './texts/pt.js'
import type { Texts } from './texts/texts.js'

export const TEXTS: Readonly<Record<Language, Texts>> = { en, fr, de, es, it, pt, nl }
