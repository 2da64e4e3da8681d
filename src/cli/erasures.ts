import { readFileSync } from 'node:fs'
import { Command } from 'commander'
import type { Erasure, ErasureOutcome } from '../storage/erasures.js'
import { type Administer, print, quietLog, run, withRetries } from './administer.js'
import { newErasureList, wholeErasureList } from './erasure-list.js'

/** `keystride erasures`: erases deleted people again after a restore. */
export function erasuresCommand(administer: Administer, env: NodeJS.ProcessEnv): Command {
  const erasures = new Command('erasures').description(
    'export a list of erased people, and apply it to a restored database',
  )
  erasures
    .command('export')
    .description('print the erased people, by hashes of ids, as lines of JSON with a check sum at the end')
    .addHelpText('after', PROCEDURE)
    .action(() =>
      administer(async ({ stores: { erasures: store } }) => {
        const list = newErasureList()
        for (let after: Erasure | null = null; ; ) {
          const some: Erasure[] = await withRetries(() => store.list(after, AT_A_TIME))
          for (const one of some) print(list.line(one))
          after = some.at(-1) ?? null
          if (after === null) break
        }
        print(list.last())
      }),
    )
  erasures
    .command('apply')
    .description(
      'end every session and profile link, and erase again the people whom a restored database has brought back',
    )
    .argument('<file...>', 'output of "erasures export"; all files are read and checked before any change')
    .addHelpText('after', PROCEDURE)
    .action((files: string[]) =>
      run(async () => {
        const wanted = files.flatMap((file) => {
          const list = wholeErasureList(readFileSync(file, 'utf8'))
          if (list === null) throw new Error(`${file} is not a whole list of erasures: nothing was done`)
          return list
        })
        const [{ readConfig }, { openStores }] = await Promise.all([
          import('../process/config.js'),
          import('../wiring/open-stores.js'),
        ])
        const stores = await openStores(readConfig(env), quietLog(), { redis: true })
        try {
          await withRetries(() => stores.endEverySession())
          print('every session was ended')
          await withRetries(() => stores.endEveryLink())
          print('every profile link was ended')
          const outcomes: Record<ErasureOutcome, number> = { erased: 0, absent: 0, known: 0, foreign: 0 }
          for (const [organizationId, some] of batches(distinct(wanted)))
            for (const outcome of await withRetries(() => stores.erasures.again(organizationId, some)))
              outcomes[outcome] += 1
          for (const outcome of OUTCOMES) print(`${outcomes[outcome]} ${MEANING[outcome]}`)
        } finally {
          await stores.close()
        }
      }),
    )
  return erasures
}

const AT_A_TIME = 1000

/** Removes duplicates: several lists of one database repeat erasures. */
const distinct = (erasures: readonly Erasure[]): Erasure[] => [
  ...new Map(erasures.map((one) => [`${one.organizationId} ${one.id}`, one])).values(),
]

/** Batches of `AT_A_TIME` erasures of one organization. */
function batches(erasures: readonly Erasure[]): [string, Erasure[]][] {
  const open = new Map<string, Erasure[]>()
  const all: [string, Erasure[]][] = []
  for (const erasure of erasures) {
    let batch = open.get(erasure.organizationId)
    if (batch === undefined || batch.length === AT_A_TIME) {
      batch = []
      open.set(erasure.organizationId, batch)
      all.push([erasure.organizationId, batch])
    }
    batch.push(erasure)
  }
  return all
}

const OUTCOMES: readonly ErasureOutcome[] = ['erased', 'known', 'absent', 'foreign']
const MEANING: Record<ErasureOutcome, string> = {
  erased: 'erased again',
  known: 'erased before the backup was made',
  absent: 'that the backup never had',
  foreign: 'of organizations that the backup does not have',
}

const PROCEDURE = `
A backup brings back people who were deleted after it was made. Store the output of "erasures export" apart from the backups,
regularly: deletions after the latest list must be repeated by hand. After a restore, before the service starts:
  1. keystride erasures apply <the latest list, or several>
  2. start the service
A list that is incomplete or was changed is refused as a whole. Applying a list twice changes nothing.`
