import type { SsoTexts } from './texts.js'

export const en: SsoTexts = {
  steps: {
    name: { title: 'Sign in', text: 'Enter your user name. Then you type a few words.' },
    type: { title: 'Type to sign in', text: 'Type the words below, the way you always do.' },
    enroll: {
      title: 'Let us learn how you type',
      text: 'Type a few words a number of times, the way you always do. From then on your typing signs you in.',
    },
    later: {
      title: 'That is all for now',
      text: 'Your typing profile is not complete yet. What you completed is kept.',
    },
    'security-code': { title: 'Enter your security code', text: 'Typing is not open right now. Your code is.' },
    password: {
      title: 'One-time password',
      text: 'We send six digits to your e-mail address to make sure that it is you.',
    },
    trouble: { title: 'One moment, please', text: 'Nothing is lost. Please try again.' },
    refused: { title: 'You are not signed in', text: 'You can go back to the application.' },
    passed: { title: 'Thank you', text: 'You are being taken to the application.' },
  },
  notes: {
    'core-unreachable': 'The service that checks your typing is out of reach.',
    'not-in-directory': 'The directory does not know this name, or is out of reach.',
    'not-verified': 'Your identity provider has not verified your address. Please ask your administrator.',
    'other-account': 'This name belongs to another account of your identity provider. Please ask your administrator.',
    'invalid-email': 'The directory has no valid e-mail address for you. Please ask your administrator.',
    'wrong-password': 'That is not the password of the latest mail, or it was used up.',
    'invalid-pattern': 'That typing could not be used. Please type the words once more.',
    'mail-failed': 'The mail could not be sent. Please try again later.',
    robot: 'That typing looked like that of a machine.',
    'not-enrolled': 'You have no typing profile yet, and cannot make one here. Please ask your administrator.',
    blocked: 'Your typing was not recognized, or you are locked for a while.',
    strangers:
      'There were too many wrong tries with your name from other devices. Prove by e-mail that it is you, or use a browser in which you signed in lately.',
    challenged: 'We are not certain that it is you. Type again, or use a one-time password.',
    'verify-failed': 'The service refused the check. Please ask your administrator.',
    'password-expired': 'That password has expired. Please have a new one sent.',
  },
  name: 'User name',
  code: 'Security code',
  password: 'Six digits',
  sentTo: 'Sent to {address}. The digits work for five minutes.',
  send: 'Send me a one-time password',
  sendAgain: 'Send a new one',
  wait: 'Too many passwords were sent or tried. The next one can be sent in {minutes} min.',
  locked: 'Locked for {minutes} min.',
  later: 'Please sign in again {when}.',
  reset: 'Has your typing changed? Prove by e-mail that it is you, and enroll again.',
  retry: 'Try again',
  cancel: 'Back to the application',
  ended: {
    title: 'This sign-in has ended',
    text: 'It took too long, or was finished in another window. Please go back to the application and sign in again.',
  },
  busy: {
    title: 'One moment, please',
    text: 'Too many sign-ins are open at once. Please go back to the application and sign in again in a minute.',
  },
  failed: {
    title: 'This request cannot be answered',
    text: 'The application sent something that the sign-in service does not accept. Please tell its operator.',
  },
  signOut: { title: 'Sign out?', text: 'This ends your session in all applications.', yes: 'Sign out' },
  signedOut: { title: 'You are signed out', text: 'You can close this page.' },
  mail: {
    subject: 'Your one-time password for {host}',
    text: 'Your one-time password: {password}\n\nIt works once, for {minutes} minutes, on {host}. If you are not signing in right now, ignore this mail and tell nobody the digits.',
  },
}
