import { InvalidArgumentError } from 'commander'

/** Parses an id. Anything else is refused before a store is opened. */
export function uuid(text: string): string {
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text))
    throw new InvalidArgumentError('wanted an id like 0198c0de-...')
  return text
}

/** The option of every command that prints data. */
export const JSON_OPTION = ['--json', 'print it as JSON'] as const
