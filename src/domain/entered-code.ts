/** Codes that people enter, such as a one-time password copied from a mail or typed in the digits of another script. */

/**
 * The digits 0 to 9 of an entered code: digits of every script, without spaces, dashes, full stops and invisible marks. Other
 * characters stay, so that the result is no code.
 */
export function enteredDigits(text: string): string {
  return text.replace(SEPARATORS, '').replace(/\p{Nd}/gu, (digit) => String(valueOfDigit(digit)))
}

/** A full stop of any script, U+2212 (minus sign) and format characters count too. */
const SEPARATORS = /[\s\p{Pd}\p{Cf}\u2212.。．｡۔·]/gu

/** Digits of a script are ten code points in order, and only other such tens may stand directly before them. */
function valueOfDigit(digit: string): number {
  const code = digit.codePointAt(0) ?? 0
  let before = 0
  while (/\p{Nd}/u.test(String.fromCodePoint(code - before - 1))) before++
  return before % 10
}

/**
 * A name as the person meant it: without the invisible marks that come with copied text. The joiners stay, because some scripts
 * need them.
 */
export const withoutMarks = (text: string): string => text.replace(/[^\P{Cf}\u200c\u200d]/gu, '')
