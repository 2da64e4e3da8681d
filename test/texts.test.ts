import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { LANGUAGES } from '../src/domain/typing-words.js'

const texts = new URL('../texts/', import.meta.url)

/** The placeholders of each text by its path. */
const placeholders = (of: object, path = ''): Record<string, string[]> =>
  Object.assign(
    {},
    ...Object.entries(of).map(([name, value]) =>
      typeof value === 'string'
        ? { [`${path}${name}`]: [...value.matchAll(/\{\w+\}/g)].map(([one]) => one).sort() }
        : placeholders(value, `${path}${name}.`),
    ),
  )

it.each(readdirSync(texts))(
  'texts/%s has every text and placeholder of the English ones in each language',
  (folder) => {
    const inLanguage = (language: string) =>
      placeholders(JSON.parse(readFileSync(new URL(`${folder}/${language}.json`, texts), 'utf8')))
    for (const language of LANGUAGES) expect([language, inLanguage(language)]).toEqual([language, inLanguage('en')])
  },
)
