import { LANGUAGE as language, type Texts, texts } from './texts/en.js'

/** The build makes one script a language: it replaces `texts/en.js` by the texts of that language. */
export const LANGUAGE: string = language
export const t: Texts = texts

/** Replaces `{name}` by the value of that name. */
export const fill = (text: string, values: Readonly<Record<string, string | number>>): string =>
  text.replace(/\{(\w+)\}/g, (_, name: string) => String(values[name] ?? ''))
