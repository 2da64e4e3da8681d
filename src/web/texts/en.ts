import type { Texts } from './texts.js'

export const en: Texts = {
  kinds: {
    'create-profile': {
      title: 'Let us learn how you type',
      text: 'Your typing has a rhythm of its own. Type a few words five times or so, the way you always do, and we will know you by it.',
    },
    'reset-profile': {
      title: 'Renew your typing profile',
      text: 'Type a few words, the way you always do. Your current profile stays in use until the new one is complete.',
    },
    'complete-profile': {
      title: 'Complete your typing profile',
      text: 'Type a few words more, the way you always do, and you will be recognized more reliably.',
    },
  },
  typing: {
    next: 'Continue',
    saved: 'Got it. Here are the next words.',
    wait: 'No more words can be taken right now. Please open this page again {when}.',
    later:
      'Thank you, that was the last one for now: this profile is typed on several days. Please open this link again {when}.',
    trouble: 'The service could not be reached. What you completed is kept.',
    retry: 'Try again',
  },
  trying: {
    pageTitle: 'Try Keystride on yourself',
    title: 'Try it on yourself',
    lead: 'Type a few words five times, the way you always do. Then see whether the service recognizes your typing, which keys decided it, and what happens when a friend takes your place.',
    somebodyElse: '0 %, somebody else',
    you: 'you, 100 %',
    pairs: 'The evidence, key pair by key pair',
    pairsHelp:
      'Each bar shows how much more likely these times are for you than for other people. A bar to the right speaks for you.',
    keys: 'Keys',
    weight: 'Against you · for you',
    usual: 'Usual',
    here: 'Here',
    notTheSum:
      'The confidence is not the sum of the bars. The model weighs several hundred features; these are some of them.',
    again: 'Type again yourself',
    friend: 'Let a friend try',
    history: 'So far',
    forget: 'Delete my data',
    complete: 'Your profile is complete. Type once more to sign in.',
    yourTurn: 'Your turn: sign in',
    friendsTurn: 'Your friend’s turn: the same words, at their own pace',
    youTried: 'You: {result}',
    friendTried: 'Friend: {result}',
    notScored: 'not scored',
    confidence: 'Confidence {percent} %; 50 % is enough to sign in.',
    locked: { title: 'Locked for a while', text: 'Too many attempts failed. The next one is scored in {seconds} s.' },
    machine: { title: 'A machine typed that', text: 'The times are too even for a person.' },
    replay: {
      title: 'That was typed before',
      text: 'The times repeat an earlier recording. A person never repeats them exactly.',
    },
    recognized: 'That was you',
    unsure: 'Not certain',
    unsureHelp: '{confidence} A sign-in page would now ask for a security code.',
    rejected: 'That was somebody else',
    spokeFor: 'for you, weight {weight}',
    spokeAgainst: 'against you, weight {weight}',
  },
  needsScript:
    'This page needs JavaScript, in a browser of the last few years. Please switch it on, or open the link in another browser.',
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
    text: 'It may have been used, replaced by a newer one or withdrawn, or have expired. If you have just finished, all is well. Otherwise ask the sender for a new one.',
  },
  computer: {
    title: 'Please use a computer',
    text: 'Typing is recognized on the keyboard of a computer only, not on a phone or tablet, even with a keyboard connected. Please open this page on a computer. What you completed is kept.',
  },
  unavailable: {
    title: 'One moment, please',
    text: 'The service is out of reach right now. Nothing is lost: please try again in a minute.',
  },
  language: 'Language',
}
