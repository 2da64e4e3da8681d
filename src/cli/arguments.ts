import { InvalidArgumentError } from 'commander'

/** Parses an id. Anything else is refused before a store is opened. */
export function uuid(text: string): string {
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text))
    throw new InvalidArgumentError('wanted an id like 0198c0de-...')
  return text
}

/** A parser of whole numbers; its error says what is `wanted`. */
export function whole(least: number, most: number, wanted = `a whole number from ${least} to ${most}`) {
  return numberIf((value) => Number.isSafeInteger(value) && value >= least && value <= most, wanted)
}

/** A parser of numbers above 0. */
export const above0 = (wanted = 'a number above 0') => numberIf((value) => Number.isFinite(value) && value > 0, wanted)

function numberIf(isWithin: (value: number) => boolean, wanted: string) {
  return (text: string): number => {
    if (text.trim() === '' || !isWithin(Number(text))) throw new InvalidArgumentError(`wanted ${wanted}`)
    return Number(text)
  }
}

/** A seed, or the number of a person who is made up. */
export const seed = whole(0, 999_999_999, 'a whole number')

/** The option of every command that prints data. */
export const JSON_OPTION = ['--json', 'print it as JSON'] as const
