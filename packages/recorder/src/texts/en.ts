import type { Texts } from './texts.js'

export const en: Texts = {
  count: 'Pattern {n} of {of}',
  words: 'Words to type',
  label: 'Type these words, with a space between them',
  help: 'At your usual pace. Correct slips with Backspace.',
  mistyped: '“{typed}” should be “{word}”. Delete it with Backspace and type it again, please.',
  wordsLeft: 'Not all of the words are there yet.',
  sending: 'One moment …',
  pasted: 'Pasted text does not show how you type. Please type the words yourself.',
  filled: 'Your browser or a helper filled in text. Please type the words yourself.',
  inserted: 'Some text came without key presses. Please type the words, key by key.',
  composed:
    'Your keyboard makes characters of several keys, as for Korean, Japanese or Chinese. Please switch it to Latin letters, or use another way to sign in, such as a code.',
  noKeys:
    'This keyboard does not report which keys you press, as on most phones. Please use a computer, with its keyboard set to Latin letters.',
  phone:
    'This device seems to have a touch screen only. Most phone keyboards do not report which keys you press. Please use a computer.',
  coarseClock:
    'This browser blurs its clock to protect you, too much to tell how you type. Please use another browser.',
  paused: 'You took a break, which is fine. Please begin these words again.',
  again: 'That did not work out. Please type these words once more.',
  machine: 'That looked too even for a person. Please type once more, quite naturally.',
  seenBefore: 'That looked exactly like earlier typing. Please type these words afresh.',
  recordedTitle: 'What is recorded?',
  recorded: [
    'When each key goes down and comes up while you type these words, and which key it is.',
    'The kind of your device and browser, such as its language and the size of its screen.',
    'Nothing else: no other page, no other field, no camera, no cookies.',
    'It is encrypted, and used to recognize you when you sign in.',
  ],
}
