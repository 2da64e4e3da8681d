import { createHash } from 'node:crypto'
import type { TypingWord } from '../../domain/own-words.js'
import { coreWords, LANGUAGES, type Language } from '../../domain/typing-words.js'

/** Must never change: every id of a core word derives from it. */
const NAMESPACE = Buffer.from('5f0c6e0f3b8a4f6c9d41a7c2e85b1d30', 'hex')

/** The id of a core word: a UUID of version 5 (RFC 9562, 5.5) of language and word, the same on every installation. */
export function coreWordId(language: Language, word: string): string {
  const bytes = createHash('sha1').update(NAMESPACE).update(`${language}:${word}`).digest().subarray(0, 16)
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x50, 6)
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8)
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

/** Every core word, enabled, by id; languages in the order of `LANGUAGES`, words by frequency. */
const CORE: ReadonlyMap<string, TypingWord> = new Map(
  LANGUAGES.flatMap((language) =>
    coreWords(language).map((word) => {
      const id = coreWordId(language, word)
      return [id, { id, word, language, core: true, enabled: true }]
    }),
  ),
)

/** Null if no core word has this id. */
export const coreWordOf = (id: string): TypingWord | null => CORE.get(id) ?? null

/** All core words of a language, or of every language with null; all are enabled. */
export const coreTypingWords = (language: Language | null): TypingWord[] =>
  [...CORE.values()].filter((word) => language === null || word.language === language)
