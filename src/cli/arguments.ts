import { InvalidArgumentError } from 'commander'

/** A command-line argument that is an id; anything else is refused before a store is opened. */
export function uuid(text: string): string {
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text))
    throw new InvalidArgumentError('wanted an id like 0198c0de-...')
  return text
}

/** The option of every command that shows something. */
export const JSON_OPTION = ['--json', 'print it as JSON'] as const
