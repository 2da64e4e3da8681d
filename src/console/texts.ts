/**
 * Every text of the console. Braces hold placeholders; `one` and `other` are plural forms. The build makes one script for
 * each language, in which it replaces `en.json` by the texts of that language.
 */
export { default as t } from '../../texts/console/en.json' with { type: 'json' }

/** Replaces `{name}` by the value of that name. */
export const fill = (text: string, values: Readonly<Record<string, string | number>>): string =>
  text.replace(/\{(\w+)\}/g, (_, name: string) => String(values[name] ?? ''))
