import { createRecorder, type Recorder } from '@keystride/recorder'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'

/** Events of a browser, as the recorder reads them: trusted, and in an order that only the browser decides. */
class Keyboard {
  readonly isTrusted = true
  readonly [key: string]: unknown
  constructor(fields: object) {
    Object.assign(this, { location: 0, ctrlKey: false, altKey: false, shiftKey: false, metaKey: false }, fields)
  }
}
class Input extends Keyboard {}

/** One event: a key by its name with its code, or a text with its input type and the field's text after it. */
type Sent =
  | readonly ['down' | 'up', key: string, code?: string, keyCode?: number]
  | readonly ['text', inputType: string, data: string | null, value: string]

const letters = (text: string): Sent[] =>
  [...text].flatMap((key, i): Sent[] => [
    ['down', key, `Key${key.toUpperCase()}`],
    ['text', 'insertText', key, text.slice(0, i + 1)],
    ['up', key, `Key${key.toUpperCase()}`],
  ])
const TEXT = 'quickbrownfoxjumpsoverthelazydog'
const composed = (type: string, data: string | null, value = data ?? ''): Sent => ['text', type, data, TEXT + value]
const down = (key: string, code: string, keyCode = 229): Sent => ['down', key, code, keyCode]
const up = (key: string, code: string): Sent => ['up', key, code]

/** An accent by a dead key and its letter: in the order of Safari, where the key event of an accent comes late, and of others. */
const ACCENTS: Readonly<Record<string, readonly Sent[]>> = {
  'Safari, both keys late': [
    composed('insertCompositionText', '´'),
    down('Dead', 'KeyE'),
    up('Dead', 'KeyE'),
    composed('deleteCompositionText', null),
    composed('insertFromComposition', 'é'),
    down('é', 'KeyE'),
    up('e', 'KeyE'),
  ],
  'Safari, the letter in time': [
    composed('insertCompositionText', '´'),
    down('Dead', 'KeyE'),
    up('Dead', 'KeyE'),
    down('é', 'KeyE'),
    composed('deleteCompositionText', null),
    composed('insertFromComposition', 'é'),
    up('e', 'KeyE'),
  ],
  'Safari, an accent that does not fit its letter': [
    composed('insertCompositionText', '´'),
    down('Dead', 'KeyE'),
    up('Dead', 'KeyE'),
    composed('deleteCompositionText', null),
    composed('insertFromComposition', '´x'),
    down('´x', 'KeyX'),
    up('x', 'KeyX'),
  ],
  'Chromium and Firefox': [
    down('Dead', 'KeyE'),
    composed('insertCompositionText', '´'),
    up('Dead', 'KeyE'),
    down('Process', 'KeyE'),
    composed('insertCompositionText', 'é'),
    up('é', 'KeyE'),
  ],
  'a held key, chosen by the mouse': [
    down('e', 'KeyE', 69),
    composed('insertText', 'e'),
    up('e', 'KeyE'),
    composed('insertReplacementText', 'é'),
  ],
  'a held key, chosen by arrows': [
    down('e', 'KeyE', 69),
    composed('insertText', 'e'),
    composed('insertReplacementText', 'è'),
    down('ArrowRight', 'ArrowRight'),
    up('ArrowRight', 'ArrowRight'),
    composed('insertReplacementText', 'é'),
    down('Enter', 'Enter'),
    up('Enter', 'Enter'),
    up('e', 'KeyE'),
  ],
  'a held key, chosen by a digit': [
    down('e', 'KeyE', 69),
    composed('insertText', 'e'),
    up('e', 'KeyE'),
    down('2', 'Digit2'),
    composed('insertReplacementText', 'é'),
    up('2', 'Digit2'),
  ],
  'a held key in Chromium': [
    down('e', 'KeyE', 69),
    composed('insertText', 'e'),
    up('e', 'KeyE'),
    composed('insertText', 'é'),
  ],
}

/** Text of an input method, and other text that no key press accounts for. */
const FOREIGN: Readonly<Record<string, readonly [reason: string, readonly Sent[]]>> = {
  'Korean in Safari': [
    'composition',
    [
      down('ㅎ', 'KeyG'),
      composed('insertText', 'ㅎ'),
      up('ㅎ', 'KeyG'),
      down('ㅏ', 'KeyK'),
      composed('insertReplacementText', '하'),
      up('ㅏ', 'KeyK'),
    ],
  ],
  'Japanese in Safari': [
    'composition',
    [
      composed('insertCompositionText', 'ｋ'),
      down('k', 'KeyK'),
      up('k', 'KeyK'),
      composed('insertCompositionText', 'こ'),
      down('o', 'KeyO'),
      up('o', 'KeyO'),
    ],
  ],
  'one composed letter without a key': ['composition', [composed('insertCompositionText', 'ｋ')]],
  'two composed letters without a key': [
    'composition',
    [composed('insertCompositionText', '´'), composed('insertCompositionText', '´´')],
  ],
  'an accent with its letter, without a dead key': ['composition', [composed('insertFromComposition', 'é')]],
  'Chinese in Chromium': [
    'composition',
    [
      down('Process', 'KeyN'),
      composed('insertCompositionText', 'n'),
      up('n', 'KeyN'),
      down('Process', 'KeyI'),
      composed('insertCompositionText', 'ni'),
      up('i', 'KeyI'),
    ],
  ],
  'a corrected word': ['autofilled', [...letters('teh'), composed('insertReplacementText', 'the')]],
  'a corrected letter': [
    'autofilled',
    [down('i', 'KeyI', 73), composed('insertText', 'i'), up('i', 'KeyI'), composed('insertReplacementText', 'I')],
  ],
  'a letter in the place of several': [
    'autofilled',
    [
      down('e', 'KeyE', 69),
      composed('insertText', 'e'),
      up('e', 'KeyE'),
      ['text', 'insertReplacementText', 'é', `${TEXT.slice(0, -1)}é`],
    ],
  ],
  'a letter that replaces none': ['autofilled', [composed('insertReplacementText', 'é')]],
}

describe('text of dead keys, held keys and input methods', () => {
  let recorder: Recorder
  let field: { value: string; heard: Map<string, (event: object) => void> }
  let ms = 0
  beforeEach(() => {
    ms = 0
    const heard = new Map<string, (event: object) => void>()
    const listens = {
      addEventListener: (type: string, handler: (event: object) => void) => heard.set(type, handler),
      removeEventListener: (type: string) => heard.delete(type),
    }
    field = Object.assign(Object.create(null), {
      ...listens,
      ...{ heard, value: '', type: 'text', autocomplete: 'off', id: 'words', matches: () => false },
    })
    const globals = {
      KeyboardEvent: Keyboard,
      InputEvent: Input,
      window: listens,
      screen: {},
      navigator: { userAgent: '' },
      innerHeight: 1,
      innerWidth: 1,
      devicePixelRatio: 1,
    }
    for (const [name, value] of Object.entries(globals)) vi.stubGlobal(name, value)
    recorder = createRecorder({ inputs: [field as never] })
  })
  afterEach(() => {
    recorder.stop()
    vi.unstubAllGlobals()
  })

  function send(all: readonly Sent[]): void {
    for (const sent of all) {
      ms += 45 + (ms % 7)
      const common = { currentTarget: field, timeStamp: ms }
      if (sent[0] === 'text') {
        field.value = sent[3]
        field.heard.get('input')?.(new Input({ ...common, inputType: sent[1], data: sent[2] }))
      } else {
        const [type, key, code = '', keyCode = 65] = sent
        field.heard.get(`key${type}`)?.(new Keyboard({ ...common, key, code, keyCode, repeat: false }))
      }
    }
  }
  /** The reason of `take` after typing, these events and more typing. */
  function taken(sent: readonly Sent[]): string | null {
    recorder.reset()
    field.value = ''
    recorder.reset()
    send([...letters(TEXT), ...sent])
    return recorder.take().unusable
  }

  it.each(Object.entries(ACCENTS))('an accent counts as typing: %s', (_, sent) => {
    expect(taken(sent)).toBeNull()
    // The same accent again is not taken for an input method.
    send(sent)
    expect(recorder.take().unusable).toBeNull()
  })

  it.each(Object.entries(FOREIGN))('is not typing: %s', (_, [reason, sent]) => {
    expect(taken(sent)).toBe(reason)
  })

  it('accounts for no text without a key by the presses of accents', () => {
    for (const [order, sent] of Object.entries(ACCENTS)) {
      taken([...sent, ...sent, ...sent])
      // One press may still owe its text.
      send([composed('insertText', 'a', 'a'), composed('insertText', 'b', 'ab')])
      expect([order, recorder.take().unusable]).toEqual([order, 'inserted'])
    }
  })
})
