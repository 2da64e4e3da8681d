import { Command, Option } from 'commander'
import { type Administer, print, WrongUse } from './administer.js'
import { uuid } from './arguments.js'

interface Options {
  readonly to?: string
  readonly back?: true
  readonly deleteSource?: true
}

/** `keystride organization move`: moves an organization to another database. */
export const moveCommand = (administer: Administer): Command =>
  new Command('move')
    .description('move an organization to another database of DATABASE_URLS while it serves')
    .argument('<organization-id>', 'id as "organization list" prints it', uuid)
    .option('--to <database>', 'one of DATABASE_URLS, or main; also goes on with an interrupted move')
    .addOption(new Option('--back', 'take an unfinished move back').conflicts('to'))
    .addOption(new Option('--delete-source', 'delete the copy that a finished move has left').conflicts(['to', 'back']))
    .addHelpText('after', HELP)
    .action((organizationId: string, options: Options) =>
      administer(
        async ({ stores, config: { storePatience: patience } }) => {
          const progress = { say: startProgress(), patience }
          if (stores.databases.length === 1) throw new WrongUse('there is one database: DATABASE_URLS names others')
          const { deleteSources, moveBack, moveTo } = await import('../wiring/move-organization.js')
          if (options.to !== undefined) {
            const { from, rows, pausedMs } = await moveTo(stores, organizationId, options.to, progress)
            print(`moved to ${options.to}: ${rows.toLocaleString('en')} rows, calls refused for ${seconds(pausedMs)}`)
            print(`${from} keeps a copy; to delete it: keystride organization move ${organizationId} --delete-source`)
          } else if (options.back === true) {
            await moveBack(stores, organizationId, progress)
            print('the move was taken back')
          } else if (options.deleteSource === true) {
            const places = await deleteSources(stores, organizationId)
            print(places.length === 0 ? 'no copy was left' : `deleted the copy in ${places.join(', ')}`)
          } else throw new WrongUse('wanted --to, --back or --delete-source')
        },
        { redis: true },
      ),
    )

const HELP = `
The rows are copied from one snapshot, then those that changed meanwhile. Both copies are compared by counts and checksums. Then the
organization's calls get 503 with Retry-After for some seconds, the last changes are copied, and the other database takes over. An interrupted
move goes on with the same command, or is taken back with --back. The source keeps its copy until --delete-source: do that once the other
database has a backup, because later erasures do not reach the copy. Archives of exports are not moved: order them anew. With a Redis for
each database (REDIS_URLS), the organization's sessions end. See docs/scaling.md for the right that the login needs in the destination.`

/** Prints the steps with their time on standard error. */
function startProgress(): (line: string) => void {
  const begun = performance.now()
  return (line) => process.stderr.write(`${seconds(performance.now() - begun).padStart(8)}  ${line}\n`)
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`
