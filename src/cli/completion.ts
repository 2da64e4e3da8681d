import { Argument, Command } from 'commander'

const SHELLS = ['bash', 'zsh', 'fish'] as const
type Shell = (typeof SHELLS)[number]

/** `keystride completion`: a completion script for a shell, generated from the commands and their options. */
export const completionCommand = (program: () => Promise<Command>): Command =>
  new Command('completion')
    .description('print a script that completes commands in bash, zsh or fish')
    .addArgument(new Argument('<shell>', 'which shell').choices(SHELLS))
    .addHelpText(
      'after',
      '\n  bash:  source <(keystride completion bash)\n  zsh:   source <(keystride completion zsh)\n' +
        '  fish:  keystride completion fish | source',
    )
    .action(async (shell: Shell) => {
      process.stdout.write(SCRIPT[shell](wordsAfter(await program())))
    })

/** The words that can follow each chain of commands: `{'': ['serve', ...], 'key issue': ['--label', ...]}`. */
type WordsAfter = ReadonlyMap<string, readonly string[]>

function wordsAfter(program: Command): WordsAfter {
  const all = new Map<string, readonly string[]>()
  const visit = (command: Command, chain: readonly string[]): void => {
    const options = command.options.flatMap(({ long }) => (long ? [long] : []))
    const choices = command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? [])
    const below = command.commands.map((one) => one.name())
    all.set(chain.join(' '), [...below, ...choices, ...options, '--help'])
    for (const one of command.commands) visit(one, [...chain, one.name()])
  }
  visit(program, [])
  return all
}

/** Each script finds the longest known chain of commands at the start of the line. bash completes files if no word matches. */
const SCRIPT: Record<Shell, (words: WordsAfter) => string> = {
  bash: (words) => `_keystride() {
  local chain='' word i
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="\${chain:+$chain }\${COMP_WORDS[i]}"
    case "$word" in
${cases(words, (chain) => `      ${chain}) chain=$word ;;`)}
    esac
  done
  local words=''
  case "$chain" in
${cases(words, (chain, next) => `    ${chain}) words='${next.join(' ')}' ;;`, true)}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _keystride keystride
`,
  zsh: (words) => `#compdef keystride
_keystride() {
  local chain='' word i
  for ((i = 2; i < CURRENT; i++)); do
    word="\${chain:+$chain }\${words[i]}"
    case "$word" in
${cases(words, (chain) => `      ${chain}) chain=$word ;;`)}
    esac
  done
  local -a next
  case "$chain" in
${cases(words, (chain, next) => `    ${chain}) next=(${next.join(' ')}) ;;`, true)}
  esac
  compadd -a next
  _files
}
if [ "$funcstack[1]" = _keystride ]; then _keystride "$@"; else compdef _keystride keystride; fi
`,
  fish: (words) => `function __keystride_words
  set -l chain ''
  for word in (commandline -opc)[2..]
    switch (string trim "$chain $word")
${cases(words, (chain) => `      case ${chain}\n        set chain (string trim "$chain $word")`)}
    end
  end
  switch "$chain"
${cases(words, (chain, next) => `    case ${chain}\n      printf '%s\\n' ${next.join(' ')}`, true)}
  end
end
complete -c keystride -a '(__keystride_words)'
`,
}

const cases = (words: WordsAfter, line: (chain: string, next: readonly string[]) => string, withRoot = false) =>
  [...words]
    .filter(([chain]) => withRoot || chain !== '')
    .map(([chain, next]) => line(`'${chain}'`, next))
    .join('\n')
