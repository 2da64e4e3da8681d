import type { Texts } from '../texts.js'

export const en: Texts = {
  kinds: {
    'create-profile': {
      title: 'Let us learn how you type',
      text: 'Your typing has a rhythm of its own. Type a few words five times or so, the way you always do, and we will know you by it.',
    },
    'reset-profile': {
      title: 'Renew your typing profile',
      text: 'Type a few words, the way you always do. Your profile of now stays as it is until the new one is complete.',
    },
    'complete-profile': {
      title: 'Complete your typing profile',
      text: 'Type a few words more, the way you always do, and you will be recognized more reliably.',
    },
  },
  typing: {
    count: 'Pattern {n} of {of}',
    words: 'Words to type',
    label: 'Type these words, with a space between them',
    help: 'At your usual pace. Small slips are fine.',
    next: 'Continue',
    mistyped: '“{typed}” should be “{word}”. Go back and correct it, please.',
    wordsLeft: 'Not all of the words are there yet.',
    sending: 'One moment …',
    saved: 'Got it. Here are the next words.',
    pasted: 'Pasted text does not show how you type. Please type the words yourself.',
    filled: 'Your browser or a helper filled in text. Please type the words yourself.',
    inserted: 'Some text came without key presses. Please type the words, key by key.',
    noKeys:
      'This keyboard does not tell which keys you press, as on most phones. Please open this link on a computer, with its keyboard set to Latin letters.',
    coarseClock:
      'This browser blurs its clock to protect you, too much to tell how you type. Please open the link in another browser.',
    paused: 'You took a break, which is fine. Please begin these words again.',
    again: 'That did not work out. Please type these words once more.',
    machine: 'That looked too even for a person. Please type once more, quite naturally.',
    seenBefore: 'That looked exactly like earlier typing. Please type these words afresh.',
    wait: 'That was a few tries too many. Please open this link again in {minutes} min.',
    trouble: 'The service could not be reached. What you completed is kept.',
    retry: 'Try again',
  },
  needsScript:
    'This page needs JavaScript, in a browser of the last few years. Please switch it on, or open the link in another browser.',
  recorded: {
    title: 'What is recorded?',
    items: [
      'When each key goes down and comes up while you type these words, and which key it is.',
      'The kind of your device and browser, such as its language and the size of its screen.',
      'Nothing else: no other page, no other field, no camera, no cookies.',
      'It is encrypted, and used to recognize you when you sign in.',
    ],
  },
  done: {
    title: 'Thank you. All done.',
    text: 'From now on your typing speaks for you.',
    close: 'You can close this page.',
    leaving: 'You are being taken to {host}.',
    onward: 'Continue to {host}',
  },
  nothingLeft: {
    title: 'Nothing left to do',
    text: 'Your typing profile is complete already. You can close this page.',
  },
  gone: {
    title: 'This link does not work (any more)',
    text: 'It may have done its work, been replaced by a newer one, been withdrawn, or have expired. If you have just finished, all is well. Otherwise ask whoever sent it for a new one.',
  },
  unavailable: {
    title: 'One moment, please',
    text: 'The service is out of reach right now. Nothing is lost: please try again in a minute.',
  },
  language: 'Language',
}
