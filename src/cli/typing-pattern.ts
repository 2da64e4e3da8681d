import { Command, InvalidArgumentError, Option } from 'commander'
import { SUGGESTED_KEY_PRESSES } from '../domain/suggested-words.js'
import { plainLetters } from '../domain/typed-words.js'
import { suggestWords } from '../domain/typing-words.js'
import { person } from '../typist/made-up-person.js'
import { seed } from './arguments.js'

/** `keystride typing-pattern`: prints typing of a made-up person, to try the API without a recorder. */
export function typingPatternCommand(): Command {
  return new Command('typing-pattern')
    .description('print a typing pattern of a made-up person, to try the API with')
    .option('--person <number>', 'number of the person: the same number is the same person', seed, 1)
    .option('--session <number>', "number of the person's session; each has its own text", seed, 1)
    .addOption(
      new Option(
        '--text <text>',
        `text to type: a to z and spaces, preferably ${SUGGESTED_KEY_PRESSES} characters or more`,
      ).argParser(typeable),
    )
    .addOption(
      new Option(
        '--words <words...>',
        'words to type, as suggestedWords of a bootstrap or of nextAttempt: a policy, a call or a page may require them',
      )
        .argParser(addWord)
        .conflicts('text'),
    )
    .addHelpText(
      'after',
      '\nAn organization accepts a pattern once: the same typing again is a replay, also for another user. --session gives another one.',
    )
    .action((options: { person: number; session: number; text?: string; words?: string[] }) => {
      const text = options.text ?? typedWords(options.words) ?? suggestWords('en', options.session).join(' ')
      process.stdout.write(`${JSON.stringify(person(options.person).types(text, options.session))}\n`)
    })
}

/** One argument may hold several words. */
const addWord = (words: string, before: string[] = []): string[] => [...before, ...words.split(/[\s,]+/)]

/** The words without accents and marks, for which a made-up person has no keys. */
function typedWords(words: readonly string[] | undefined): string | undefined {
  return words === undefined ? undefined : typeable(words.map(plainLetters).filter(Boolean).join(' '))
}

function typeable(text: string): string {
  if (!/^[a-z ]{15,500}$/.test(text)) throw new InvalidArgumentError('wanted 15 to 500 characters, a to z and spaces')
  return text
}
