import { statSync } from 'node:fs'
import { join } from 'node:path'
import { checkSums } from './check-sums.js'
import { deployOn } from './deployed.js'
import { backupScripts } from './documented.js'
import type { Stage } from './stage.js'
import type { RunStep } from './steps.js'

/** A verified backup of a deployment, whose service is stopped. */
interface Dumped {
  readonly organizationId: string
  readonly apikey: string
  /** Rows and checksum of each table at the time of the backup. */
  readonly sums: Readonly<Record<string, string>>
}

/** Fills the stage's database, backs it up by the documented commands, and verifies the backup. */
export async function dumpOn(stage: Stage, step: RunStep, patterns: number): Promise<Dumped> {
  const { shell, files, primary } = stage
  const { service, ...deployed } = await deployOn(stage, step, patterns)
  await service.stop()
  const sums = await step('count and sum the rows of every table', async () => {
    const found = await checkSums(primary, 'keystride')
    return { found: `${Object.keys(found).length} tables`, value: found }
  })
  const { dump, verify } = backupScripts()
  await step('pg_dump', async () => {
    await shell(dump)
    const { size } = statSync(join(files, 'keystride.dump'))
    return { found: `${(size / 2 ** 20).toFixed(0)} MiB`, value: null }
  })
  await step('keystride backup verify', async () => {
    const { counts } = JSON.parse(await shell(verify.replace('verify', 'verify --json'))) as VerifyReport
    for (const [table, n] of Object.entries(counts)) {
      const wanted = Number(sums[`keystride.${table}`]?.split(' ')[0])
      if (n !== wanted) throw new Error(`${table}: wanted ${wanted} rows, the backup has ${n}`)
    }
    const { reference_pattern: references, authentication: attempts } = counts
    return { found: `${references} reference patterns, ${attempts} attempts, keys held`, value: null }
  })
  return { ...deployed, sums }
}

/** The part of the output of "keystride backup verify --json" that is read. */
interface VerifyReport {
  readonly counts: Readonly<Record<string, number>>
}
