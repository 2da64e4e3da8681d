import { describe, expect, it } from 'vitest'
import { SUGGESTED_KEY_PRESSES } from '../../src/domain/suggested-words.js'
import { coreWords, LANGUAGES, suggestWords, wordsLanguage } from '../../src/domain/typing-words.js'

describe('suggested words', () => {
  it.each(LANGUAGES)('in %s come from at least 400 different words of four letters or more', (language) => {
    const words = coreWords(language)
    expect(words.length).toBeGreaterThanOrEqual(400)
    expect(new Set(words).size).toBe(words.length)
    for (const word of words) expect(word).toMatch(/^[a-z]{4,9}$/)
  })

  it('are all different and give 40 key presses or more, from any seed', () => {
    for (let seed = 0; seed < 500; seed++) {
      const words = suggestWords('en', seed)
      expect(new Set(words).size).toBe(words.length)
      expect(words.join(' ').length).toBeGreaterThanOrEqual(SUGGESTED_KEY_PRESSES)
    }
  })

  it('differ from seed to seed and repeat for the same seed', () => {
    expect(suggestWords('fr', 1)).toEqual(suggestWords('fr', 1))
    expect(suggestWords('fr', 1)).not.toEqual(suggestWords('fr', 2))
  })
})

describe('the language of the words', () => {
  const choices = {
    preferred: null,
    asked: null,
    acceptLanguage: null,
    mode: 'auto' as const,
    organizationDefault: 'nl',
  }

  it('is the preferred one, then the requested one, then the accepted one, then the default', () => {
    const all = { ...choices, preferred: 'it', asked: 'es', acceptLanguage: 'de' }
    expect(wordsLanguage(all)).toBe('it')
    expect(wordsLanguage({ ...all, preferred: null })).toBe('es')
    expect(wordsLanguage({ ...all, preferred: null, asked: null })).toBe('de')
    expect(wordsLanguage(choices)).toBe('nl')
  })

  it('follows Accept-Language by quality, and ignores it if the organization forces its language', () => {
    expect(wordsLanguage({ ...choices, acceptLanguage: 'ja, pt-BR;q=0.4, fr;q=0.8, de;q=0' })).toBe('fr')
    expect(wordsLanguage({ ...choices, acceptLanguage: 'fr', mode: 'forced' })).toBe('nl')
  })

  it('skips a language without words', () => expect(wordsLanguage({ ...choices, asked: 'tlh' })).toBe('nl'))
})
