import { readFileSync } from 'node:fs'
import { Command } from 'commander'
import type { Erasure, ErasureOutcome } from '../storage/erasures.js'
import { type Administer, patiently, print, quietLog, run } from './administer.js'
import { newErasureList, wholeErasureList } from './erasure-list.js'

/** `keystride erasures`: that nobody who was deleted comes back with a backup. */
export function erasuresCommand(administer: Administer, env: NodeJS.ProcessEnv): Command {
  const erasures = new Command('erasures').description(
    'keep a list of who was erased, and hold a restored database to it',
  )
  erasures
    .command('export')
    .description('print who was erased, by hashes of ids, as lines of JSON with a check sum at the end')
    .addHelpText('after', PROCEDURE)
    .action(() =>
      administer(async ({ stores: { erasures: store } }) => {
        const list = newErasureList()
        for (let after: Erasure | null = null; ; ) {
          const some: Erasure[] = await patiently(() => store.list(after, AT_A_TIME))
          for (const one of some) print(list.line(one))
          after = some.at(-1) ?? null
          if (after === null) break
        }
        print(list.last())
      }),
    )
  erasures
    .command('apply')
    .description('end every session and erase again whom a restored database has brought back')
    .argument('<file...>', 'what "erasures export" printed; all are read and checked before anything is done')
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
          await patiently(() => stores.endEverySession())
          print('every session was ended')
          const outcomes: Record<ErasureOutcome, number> = { erased: 0, absent: 0, known: 0, foreign: 0 }
          for (const [organizationId, some] of batches(wanted))
            for (const outcome of await patiently(() => stores.erasures.again(organizationId, some)))
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

/** By organization, no more than are looked for at a time. */
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
A backup brings back who was deleted after it was made. Keep what "erasures export" prints where the backups are not lost with
the database, as often as you can bear to ask again whom you deleted since. After a restore, before anything serves:
  1. keystride erasures apply <the latest list, or several>
  2. start the service
A list that is cut short or was changed is refused as a whole. To apply one twice changes nothing.`
