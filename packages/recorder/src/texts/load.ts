import { en } from './en.js'
import type { Texts } from './texts.js'

/** English is part of the element; every other language is a module that is loaded on demand. */
const LANGUAGES: Readonly<Record<string, () => Promise<Texts>>> = {
  de: async () => (await import('./de.js')).de,
  es: async () => (await import('./es.js')).es,
  fr: async () => (await import('./fr.js')).fr,
  it: async () => (await import('./it.js')).it,
  nl: async () => (await import('./nl.js')).nl,
  pt: async () => (await import('./pt.js')).pt,
}

/** The texts of a language tag, such as `de-AT`. English if there is no such language, or its module does not load. */
export async function loadTexts(tag: string): Promise<Texts> {
  const load = LANGUAGES[tag.toLowerCase().split('-')[0] ?? '']
  try {
    return (await load?.()) ?? en
  } catch {
    return en
  }
}
