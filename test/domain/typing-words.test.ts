import { describe, expect, it } from 'vitest'
import { coreWords, LANGUAGES, wordsLanguage } from '../../src/domain/typing-words.js'

describe('the words of the product', () => {
  it.each(LANGUAGES)('are in %s at least 400 different ones of four letters or more', (language) => {
    const words = coreWords(language)
    expect(words.length).toBeGreaterThanOrEqual(400)
    expect(new Set(words).size).toBe(words.length)
    for (const word of words) expect(word).toMatch(/^[a-z]{4,9}$/)
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
