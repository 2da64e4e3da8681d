import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { startEmbedded } from '../../src/storage/postgres/embedded/embedded.js'
import { audit } from '../harness/audit.js'
import { figure, LONG } from '../harness/figure.js'
import { type Load, startLoad } from '../harness/load.js'
import { until } from '../harness/patience.js'
import { type ServiceProcess, startProcess } from '../harness/service-process.js'

const ROUNDS = Number(process.env.KILL_ROUNDS ?? (LONG ? 100 : 3))
/** Acknowledged enrollments after which a round's process is killed. */
const ACKNOWLEDGED_A_ROUND = LONG ? 200 : 60

const folder = mkdtempSync(join(tmpdir(), 'keystride-kill-'))
let service: ServiceProcess | undefined
afterAll(async () => {
  await service?.kill()
  rmSync(folder, { recursive: true, force: true })
})

const processesNaming = (text: string) =>
  execFileSync('ps', ['-eo', 'pid,args'], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => line.includes(text) && !line.includes('ps -eo'))

const acknowledgedIn = ({ enrolled }: Load) => [...enrolled.values()].reduce((sum, one) => sum + one.acknowledged, 0)

describe('a service with its own PostgreSQL', () => {
  it(`has everything acknowledged after ${ROUNDS} kills under load, and counts no more patterns than were sent`, {
    timeout: 300_000 + ROUNDS * 20_000,
  }, async () => {
    const loads: Load[] = []
    for (let round = 0; round < ROUNDS; round++) {
      service = await startProcess({ KEYSTRIDE_DATA: folder })
      const load = await startLoad(service.core, service.demo().apikey, { enrolling: 4, leaving: 1 })
      loads.push(load)
      await until(() => acknowledgedIn(load) >= ACKNOWLEDGED_A_ROUND && load.deleted.size > 0)
      await service.kill()
      await load.stop()
    }
    service = undefined
    const embedded = await startEmbedded({ dataFolder: folder })
    const text = await audit(
      { name: 'killed', databaseUrl: () => embedded.url },
      {
        enrolled: new Map(loads.flatMap(({ enrolled }) => [...enrolled])),
        judged: new Set(loads.flatMap(({ judged }) => [...judged])),
        authenticated: new Set(loads.flatMap(({ authenticated }) => [...authenticated])),
        deleted: new Set(loads.flatMap(({ deleted }) => [...deleted])),
      },
    )
    await embedded.stop()
    figure('F07', `${ROUNDS} kills: ${text}`, 'N of N, 0 deletions undone', true)
  })

  it('stops on SIGTERM and Ctrl-C with status 0, and leaves no process', async () => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      service = await startProcess({ KEYSTRIDE_DATA: folder })
      expect((await service.stop(signal)).status).toBe(0)
      service = undefined
      expect(processesNaming(folder)).toEqual([])
    }
  })
})
