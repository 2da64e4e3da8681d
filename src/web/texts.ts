import { createRequire } from 'node:module'
import type sso from '../../texts/sso/en.json'
import type web from '../../texts/web/en.json'
import { LANGUAGES, type Language } from '../domain/typing-words.js'

/** The texts of the hosted pages, and those of single sign-on, in one language. Braces hold placeholders. */
export type Texts = typeof web
export type SsoTexts = typeof sso

// Node 20 warns about an import of JSON, not about a require.
const require = createRequire(import.meta.url)
const inAll = (folder: string) =>
  Object.fromEntries(LANGUAGES.map((language) => [language, require(`../../texts/${folder}/${language}.json`)]))

/** Texts by language. Sound: test/texts.test.ts compares the keys of each language with the English ones. */
export const TEXTS = inAll('web') as Readonly<Record<Language, Texts>>
export const SSO_TEXTS = inAll('sso') as Readonly<Record<Language, SsoTexts>>
