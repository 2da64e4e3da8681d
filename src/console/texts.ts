import { en } from './texts/en.js'

/** The shape of the texts; a further language is a file next to `en.ts` of this type. */
type Texts = typeof en

export const LANGUAGE = 'en'
export const t: Texts = en

/** Replaces `{name}` by the value of that name. */
export const fill = (text: string, values: Readonly<Record<string, string | number>>): string =>
  text.replace(/\{(\w+)\}/g, (_, name: string) => String(values[name] ?? ''))
