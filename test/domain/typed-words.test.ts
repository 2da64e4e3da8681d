import { describe, expect, it } from 'vitest'
import type { KeyPress } from '../../src/domain/key-press.js'
import { keyOf, keyOfCode } from '../../src/domain/key-table.js'
import { typesWords } from '../../src/domain/typed-words.js'
import { coreWords, LANGUAGES, suggestWords } from '../../src/domain/typing-words.js'
import { randomFrom } from '../../src/typist/made-up-person.js'

/** A key by its letter as a legacy code, by `code`, or with its own hold, ms; all others are held for 60 ms. */
type Key = string | readonly [code: string, holdMs: number]

const pressesOf = (keys: readonly Key[]): KeyPress[] =>
  keys.map((key, i) => {
    const [name, holdMs] = typeof key === 'string' ? [key, 60] : key
    const index = /^[a-z0-9]$/.test(name) ? keyOf({ kc: name.toUpperCase().charCodeAt(0) }) : keyOfCode(name)
    return { key: index, pressMs: 150 * i, releaseMs: 150 * i + holdMs }
  })
const types = (words: string, keys: readonly Key[]): boolean => {
  const presses = pressesOf(keys)
  return typesWords(
    words.split(' '),
    Uint8Array.from(presses, ({ key }) => key),
    () => presses,
  )
}
const letters = (text: string): Key[] => [...text].map((letter) => (letter === ' ' ? 'Space' : letter))
const BS = 'Backspace'
const HELD = ['Backspace', 700] as const

describe('a pattern', () => {
  it('types words by their letters in order, with spaces or without', () => {
    expect(types('some words', letters('some words'))).toBe(true)
    expect(types('some words', letters('somewords'))).toBe(true)
    expect(types('some words', [...letters(' so me  words '), 'Enter'])).toBe(true)
    expect(types('some words', ['ShiftLeft', ...letters('some words')])).toBe(true)
  })

  it('does not type words with a letter too many, too few, wrong or elsewhere', () => {
    for (const text of ['some word', 'some wordss', 'some wards', 'words some', 'smoe words', 'other', 'x'])
      expect(types('some words', letters(text)), text).toBe(false)
    expect(types('', letters(''))).toBe(false)
    expect(types('some words', [])).toBe(false)
  })

  it('types words that Backspace has corrected, spaces deleted with the letters', () => {
    expect(types('some words', [...letters('sone'), BS, BS, ...letters('me words')])).toBe(true)
    expect(types('some words', [...letters('some wx'), BS, BS, BS, ...letters(' words')])).toBe(true)
    expect(types('some words', [...letters('some wx'), BS, BS, BS, BS, ...letters('e words')])).toBe(true)
    expect(types('some words', [...letters('somewx'), BS, BS, BS, ...letters('words')])).toBe(false)
    expect(types('some words', [BS, ...letters('some words')])).toBe(true)
    expect(types('some words', [...letters('some wordsx'), BS])).toBe(true)
    expect(types('some words', [...letters('some words'), BS])).toBe(false)
  })

  it('types words of which a held Backspace, or one with Control, has deleted any number of letters', () => {
    for (const deleting of [HELD, BS] as const) {
      const held = [...letters('some wrosd'), ...(deleting === HELD ? [HELD] : [['ControlLeft', 220] as const, BS])]
      expect(types('some words', [...held, ...letters('words')])).toBe(true)
      expect(types('some words', [...held, ...letters('ords')])).toBe(true)
      expect(types('some words', [...held.slice(1), ...letters('some words')])).toBe(true)
      expect(types('some words', [...held, ...letters('wards')])).toBe(false)
    }
    expect(types('some words', [...letters('some wrosd'), HELD, BS, BS, ...letters('rds')])).toBe(false)
    expect(types('some words', [...letters('sxome wo'), HELD, BS, BS, ...letters('ome words')])).toBe(true)
  })

  it('does not type words after as many other letters and deletions as the words have letters', () => {
    const wrong = (n: number) => [...letters('x'.repeat(n)), ...Array<Key>(n).fill(BS), ...letters('some words')]
    expect(types('some words', wrong(4))).toBe(true)
    expect(types('some words', wrong(5))).toBe(false)
    expect(types('some words', [...letters('x'.repeat(30)), HELD, ...letters('some words')])).toBe(false)
  })

  it.each([
    ['café', 'a German, French or US keyboard without the accent', letters('cafe')],
    ['café', 'a dead key', [...letters('caf'), 'Equal', 'e']],
    ['café', 'a key of its own on a French keyboard', [...letters('caf'), 'Digit2']],
    ['café', 'AltGr', [...letters('caf'), ['ControlLeft', 400], ['AltRight', 250], 'e']],
    ['mañana', 'a key of its own on a Spanish keyboard', [...letters('ma'), 'Semicolon', ...letters('ana')]],
    ['müßig', 'keys of their own on a German keyboard', ['m', 'BracketLeft', 'Minus', 'i', 'g']],
    ['müßig', 'a US keyboard', letters('mussig')],
    ['coração', 'keys of a Portuguese keyboard', [...letters('cora'), 'Semicolon', 'Quote', 'a', 'o']],
    ["l'été", 'a French keyboard', ['l', 'Digit4', 'Digit2', 't', 'Digit2']],
    ['ci-contre b2b', 'any keyboard', [...letters('ci'), 'Minus', ...letters('contre b2b')]],
    [
      'château',
      'a dead key whose letter an input method hides on a French keyboard',
      [...letters('ch'), 'BracketLeft', ...letters('qteau')],
    ],
  ] satisfies [string, string, Key[]][])('types %s by %s', (word, _, keys) => {
    expect(types(word, keys)).toBe(true)
  })

  it('does not type a plain letter by a key without a letter, nor an accented one by another letter', () => {
    expect(types('cafe', [...letters('caf'), 'Digit2'])).toBe(false)
    expect(types('café', letters('cafa'))).toBe(false)
    expect(types('café', letters('caf'))).toBe(false)
    expect(types('fuß', letters('fus'))).toBe(false)
  })

  it('types words on a French or German keyboard of a client that sends positions alone', () => {
    const azerty: Record<string, string> = { a: 'q', q: 'a', z: 'w', w: 'z', m: 'Semicolon' }
    const french = [...'amazwqx'].map((letter) => azerty[letter] ?? letter)
    expect(types('amazwqx', french)).toBe(true)
    expect(types('yzx', ['z', 'y', 'x'])).toBe(true)
    expect(types('yzaq', ['z', 'y', 'q', 'a'])).toBe(false)
  })

  it.each(LANGUAGES)(
    'types suggestions in %s with any mistakes that it deletes, and no other suggestion',
    (language) => {
      const random = randomFrom(7)
      const pick = (n: number) => Math.floor(random() * n)
      for (let seed = 1; seed <= 100; seed++) {
        const words = suggestWords(language, seed)
        const keys: Key[] = []
        for (const letter of letters(words.join(pick(2) === 0 ? ' ' : ''))) {
          if (pick(12) === 0) {
            const n = 1 + pick(3)
            for (let i = 0; i < n; i++) keys.push(['x', 'q', 'Space', 'Comma'][pick(4)] ?? 'x')
            keys.push(...Array<Key>(n).fill(BS))
          }
          keys.push(letter)
        }
        const typed = keys.filter((key) => key === BS).length <= 8
        if (typed) expect(types(words.join(' '), keys)).toBe(true)
        expect(types(suggestWords(language, seed + 1000).join(' '), keys)).toBe(false)
      }
      expect(coreWords(language).every((word) => /^[a-z]+$/.test(word))).toBe(true)
    },
  )
})
