import { Command, CommanderError } from 'commander'
import { version } from '../process/version.js'
import { administerFrom, run } from './administer.js'

interface Entry {
  readonly name: string
  readonly what: string
  /** Loads the command's module, whose imports may take longer than the command. */
  readonly load: (env: NodeJS.ProcessEnv) => Promise<Command>
}

/** The commands in the order of the help text. */
const COMMANDS: readonly Entry[] = [
  {
    name: 'serve',
    what: 'start the service, and keep it running until SIGTERM or Ctrl-C',
    load: async (env) => (await import('./serve.js')).serveCommand(env),
  },
  {
    name: 'migrate',
    what: 'migrate the database to this version; idempotent, also from several machines at once',
    load: async (env) => (await import('./migrate.js')).migrateCommand(administerFrom(env)),
  },
  {
    name: 'organization',
    what: 'create, list, rename and delete organizations, and change their settings',
    load: async (env) => (await import('./organization.js')).organizationCommand(administerFrom(env)),
  },
  {
    name: 'config',
    what: 'check and print the configuration',
    load: async (env) => (await import('./config.js')).configCommand(env),
  },
  {
    name: 'doctor',
    what: 'check what the service needs: configuration, stores, keys, certificates, jobs and backups',
    load: async (env) => (await import('./doctor.js')).doctorCommand(env),
  },
  {
    name: 'walk',
    what: 'call every part of a running service as a client does, and check each answer',
    load: async (env) => (await import('./walk.js')).walkCommand(env),
  },
  {
    name: 'key',
    what: 'issue, list and revoke API keys; show and rotate the encryption key',
    load: async (env) => (await import('./key.js')).keyCommand(administerFrom(env)),
  },
  {
    name: 'member',
    what: "show a member's state, and unlock a member",
    load: async (env) => (await import('./member.js')).memberCommand(administerFrom(env)),
  },
  {
    name: 'erasures',
    what: 'export a list of erased people, and apply it to a restored database',
    load: async (env) => (await import('./erasures.js')).erasuresCommand(administerFrom(env), env),
  },
  {
    name: 'backup',
    what: 'check that a pg_dump backup is complete and its encryption keys are held',
    load: async (env) => (await import('./backup.js')).backupCommand(env),
  },
  {
    name: 'sso',
    what: 'start single sign-on, an OpenID provider that signs people in by typing, and rotate its keys',
    load: async (env) => (await import('./sso.js')).ssoCommand(env),
  },
  {
    name: 'webhook',
    what: 'receive webhooks, to try them out',
    load: async (env) => (await import('./webhook.js')).webhookCommand(env),
  },
  {
    name: 'typing-pattern',
    what: 'print a typing pattern of a made-up person, to try the API with',
    load: async () => (await import('./typing-pattern.js')).typingPatternCommand(),
  },
  {
    name: 'explain',
    what: 'score a typing pattern against references, and print the evidence for and against by key pair',
    load: async () => (await import('./explain.js')).explainCommand(run),
  },
  {
    name: 'calibrate',
    what: 'fit a scoring model on the open typing data',
    load: async () => (await import('./calibrate.js')).calibrateCommand(run),
  },
  {
    name: 'plan',
    what: 'plan processes, memory and stores for a number of people',
    load: async () => (await import('./plan.js')).planCommand(run),
  },
  {
    name: 'completion',
    what: 'print a script that completes commands in bash, zsh or fish',
    load: async (env) => (await import('./completion.js')).completionCommand(() => wholeProgram(env)),
  },
]

/** Exit status of a usage error: an unknown name, a missing or bad argument. Other failures have status 1. */
const WRONG_USE = 2

/**
 * The command line: the service and its administration. Administration uses the same environment variables and stores as
 * the service. An embedded PostgreSQL that runs already is used; otherwise it is started until the command ends.
 */
export async function keystride(argv: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  const words = argv.slice(2).filter((word) => !word.startsWith('-'))
  const asked = words[0] === 'help' ? words[1] : words[0]
  const program = newProgram()
  for (const { name, what, load } of COMMANDS)
    program.addCommand(name === asked ? await load(env) : new Command(name).description(what))
  forEach(program, (command) =>
    command.exitOverride().showHelpAfterError('(add --help for commands, arguments and options)'),
  )
  try {
    await program.parseAsync(argv)
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    process.exitCode = error.exitCode === 0 ? 0 : WRONG_USE
  }
}

/** Every command with its subcommands. */
async function wholeProgram(env: NodeJS.ProcessEnv): Promise<Command> {
  const program = newProgram()
  for (const { load } of COMMANDS) program.addCommand(await load(env))
  return program
}

const newProgram = (): Command =>
  new Command('keystride')
    .description(
      'Keystride: the service, and its organizations, keys, members, database, configuration, scoring model.',
    )
    .version(version())
    .addHelpText(
      'after',
      '\nThe command reads the same environment as the service (DATABASE_URL, KEYSTRIDE_DATA, ...): see "keystride config check".\n' +
        'First steps:\n  keystride serve\n  keystride organization create "My company"\n  keystride key issue <organization-id> --label backend',
    )

function forEach(command: Command, change: (command: Command) => void): void {
  change(command)
  for (const below of command.commands) forEach(below, change)
}
