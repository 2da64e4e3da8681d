import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { suggestWords } from '../../src/domain/typing-words.js'
import { person } from '../../src/typist/made-up-person.js'
import { figure, LONG } from '../trust/figure.js'
import { type ServiceProcess, startProcess } from './service-process.js'

const ROUNDS = Number(process.env.KILL_ROUNDS ?? (LONG ? 100 : 8))
const CLIENTS = 6
/** Acknowledged enrollments after which a round's process is killed. */
const ACKNOWLEDGED_A_ROUND = LONG ? 200 : 60

const folder = mkdtempSync(join(tmpdir(), 'keystride-kill-'))
let service: ServiceProcess | undefined
afterAll(async () => {
  await service?.stop()
  rmSync(folder, { recursive: true, force: true })
})

const processesNaming = (text: string) =>
  execFileSync('ps', ['-eo', 'pid,args'], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => line.includes(text) && !line.includes('ps -eo'))

describe('a service that is killed repeatedly under load', () => {
  it(
    `has every acknowledged enrollment after ${ROUNDS} kills, and counts no more patterns than were sent`,
    async () => {
      /** userRef -> enrollments answered with 200, and all that were sent. */
      const acknowledged = new Map<string, number>()
      const sent = new Map<string, number>()
      /** Accounts whose deletion was answered with 200. */
      const deleted = new Set<string>()
      const startsMs: number[] = []

      for (let round = 0; round < ROUNDS; round++) {
        service = await startProcess({ KEYSTRIDE_DATA: folder })
        startsMs.push(service.startedInMs)
        const live = service
        const { apikey } = live.demo()
        let done = 0
        let over = false
        const enough = new Promise<void>((resolve) => {
          const client = async (n: number) => {
            for (let i = 0; !over; i++) {
              const userRef = `r${round}-c${n}-u${i}`
              const who = person(round * 10_000 + n * 500 + i)
              await fetch(`${live.core}/users/${userRef}`, { method: 'POST', headers: { apikey } })
              const begun = await fetch(`${live.core}/users/${userRef}`, { headers: { apikey } })
              const session = begun.headers.get('x-service-session') ?? ''
              for (let pattern = 0; pattern < 5 && !over; pattern++) {
                sent.set(userRef, (sent.get(userRef) ?? 0) + 1)
                const answer = await fetch(`${live.core}/users/${userRef}/typing-patterns`, {
                  method: 'POST',
                  headers: { apikey, 'content-type': 'application/json', 'x-service-session': session },
                  body: JSON.stringify(who.types(suggestWords('en', pattern).join(' '), pattern)),
                })
                if (answer.status !== 200) continue
                acknowledged.set(userRef, (acknowledged.get(userRef) ?? 0) + 1)
                done++
                if (done === ACKNOWLEDGED_A_ROUND) resolve()
              }
              const other = `gone-${userRef}`
              await fetch(`${live.core}/users/${other}`, { method: 'POST', headers: { apikey } })
              const gone = await fetch(`${live.core}/users/${other}`, { method: 'DELETE', headers: { apikey } })
              if (gone.status === 200) deleted.add(other)
            }
          }
          // The kill ends each client with a connection error.
          for (let n = 0; n < CLIENTS; n++) client(n).catch(() => {})
        })
        await enough
        await live.kill()
        over = true
      }

      service = await startProcess({ KEYSTRIDE_DATA: folder })
      const { apikey } = service.demo()
      let lost = 0
      let tooMany = 0
      let total = 0
      for (const [userRef, n] of sent) {
        const answer = await fetch(`${service.core}/users/${userRef}`, { headers: { apikey } })
        const state = (await answer.json()) as { nPatternsRef: number }
        const promised = acknowledged.get(userRef) ?? 0
        total += promised
        lost += Math.max(0, promised - state.nPatternsRef)
        tooMany += Math.max(0, state.nPatternsRef - n)
      }
      let back = 0
      for (const userRef of deleted)
        if ((await fetch(`${service.core}/users/${userRef}`, { headers: { apikey } })).status !== 404) back++
      const slowest = Math.max(...startsMs.slice(1))
      console.log(
        `${ROUNDS} kills, ${total} acknowledged enrolments, ${lost} lost; slowest start after a kill ${Math.round(slowest)} ms`,
      )
      expect(total).toBeGreaterThanOrEqual(ROUNDS * ACKNOWLEDGED_A_ROUND)
      expect(tooMany).toBe(0)
      expect(deleted.size).toBeGreaterThanOrEqual(ROUNDS)
      figure(
        'F07',
        `${ROUNDS} kills: ${total - lost} of ${total} acknowledged enrolments there, ${back} of ${deleted.size} deleted users back`,
        'all, 0',
        lost === 0 && back === 0,
      )
    },
    ROUNDS * 20_000,
  )

  it('stops on SIGTERM and Ctrl-C within 10 s with status 0, and leaves no process', async () => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      service ??= await startProcess({ KEYSTRIDE_DATA: folder })
      const { status, tookMs } = await service.stop(signal)
      service = undefined
      expect(status).toBe(0)
      expect(tookMs).toBeLessThan(10_000)
      expect(processesNaming(folder)).toEqual([])
    }
  }, 60_000)
})
