import { randomBytes } from 'node:crypto'
import postgres from 'postgres'
import { inject } from 'vitest'
import { bodyOf, enroll, userRef, VERIFIED_FROM } from '../../bench/ratio/people.js'
import { request } from '../../bench/shared/drive.js'
import { sha256Hex } from '../../src/flows/process/tokens.js'
import { readConfig } from '../../src/process/config.js'
import { jsonLog } from '../../src/process/log.js'
import { openStores } from '../../src/wiring/open-stores.js'
import { freshDatabase } from '../servers/database.js'
import { deployment } from './deployment.js'
import { type Asking, closedLoop, type Heard, openLoop } from './open-loop.js'
import { type ServiceProcess, startProcess } from './service-process.js'

/** A service with enrolled people, and prepared verifies of theirs. */
export interface TypingCrowd {
  readonly service: ServiceProcess
  readonly port: number
  readonly apikey: string
  /** The next verify: a new pattern in a session that is not used up. Throws if none is prepared. */
  next(): Asking
  /** Creates sessions with `A_SESSION` prepared verifies each. */
  mint(sessions: number): Promise<void>
  /** A live session of the first person; '' if none. */
  lastSession(): string
  /** Sends requests at equal intervals, independent of earlier answers. */
  offer(of: { perSecond: number; seconds: number; next: () => Asking }): Promise<Heard[]>
  /** The capacity: verifies a second over twice as many connections as the service serves at once. */
  able(): Promise<number>
  /** Runs until the code is compiled. Returns the capacity. */
  warmUp(): Promise<number>
  metric(name: string): Promise<number>
  close(): Promise<void>
}

const PEOPLE = 512
const WARM_UP_S = 10
/** Upper bound of the capacity, for the requests of the first seconds. */
const PER_SECOND_MAX = 5000
/** More requests than the service serves and queues, together 320. */
const CROWD = 600
/** Twice `REQUESTS_AT_ONCE`. */
const CONNECTIONS = 128
/** Duration of a capacity measurement and of the calm load that it is compared with, s. */
export const BASE_S = 8
/** The maximum of the policy. */
export const A_SESSION = 10

export async function typingCrowd(): Promise<TypingCrowd> {
  const fresh = await freshDatabase()
  const made = await deployment(fresh.url)
  const { apikey } = made
  const direct = postgres(fresh.url, { max: 1 })
  await direct`update keystride.policy set policy = jsonb_set(policy, '{security_code_fallback,max_biometric_attempts}', ${String(A_SESSION)}::jsonb)`
  await direct.end()
  const redisUrl = inject('redisUrl')
  const env = { ...made.env, ...(redisUrl === null ? {} : { REDIS_URL: redisUrl }) }
  const service = await startProcess({ ...env, TARGET_REF_PATTERNS: '3', QUEUE_MS: '1000' })
  const port = Number(new URL(service.core).port)
  await enroll({ port, apikey, people: PEOPLE, references: 3 })
  const stores = await openStores(readConfig(env), jsonLog('silent'), { redis: true })

  const units: { person: number; session: string; requests: Buffer[] }[] = []
  const typed = new Array<number>(PEOPLE).fill(VERIFIED_FROM)
  // Patterns are prepared before they are due, because making one costs half as much as a verify.
  const typing = (person: number, session: string) => {
    const head = { apikey, 'content-type': 'application/json', 'x-service-session': session }
    const ordinal = typed[person] ?? VERIFIED_FROM
    typed[person] = ordinal + 1
    return request('POST', `/core/users/${userRef(person)}/verify`, head, bodyOf(person, ordinal))
  }
  let minted = 0
  const mint = async (count: number): Promise<void> => {
    for (let n = 0; n < count; n += 32)
      await Promise.all(
        Array.from({ length: 32 }, async () => {
          const person = minted++ % PEOPLE
          const session = randomBytes(32).toString('base64url')
          const who = userRef(person)
          const lifetimeMs = 3_600_000
          await stores.sessions.mint(made.organizationId, {
            sha256: sha256Hex(session),
            userRef: who,
            memberRef: who,
            lifetimeMs,
          })
          units.push({ person, session, requests: Array.from({ length: A_SESSION }, () => typing(person, session)) })
        }),
      )
  }
  const lastSession = () => units.findLast(({ person }) => person === 0)?.session ?? ''
  let turn = 0
  // Takes the sessions in turn, each until it is used up.
  const next = (): Asking => {
    turn = (turn + 1) % units.length
    const unit = units[turn]
    if (unit === undefined) throw new Error('too few sessions are prepared')
    const bytes = unit.requests.pop()
    if (unit.requests.length === 0) units.splice(turn, 1)
    if (bytes === undefined) throw new Error('a session has no prepared request')
    return { kind: 'verify', bytes }
  }
  const able = () => closedLoop(port, CONNECTIONS, BASE_S, next)
  return {
    service,
    port,
    apikey,
    next,
    mint,
    lastSession,
    offer: (of) => openLoop({ ports: [port], connections: CROWD, ...of }),
    able,
    async warmUp() {
      await mint((WARM_UP_S * PER_SECOND_MAX) / A_SESSION)
      const cold = await closedLoop(port, CONNECTIONS, WARM_UP_S, next)
      await mint((2 * cold * BASE_S) / A_SESSION)
      return able()
    },
    async metric(name) {
      const text = await (await fetch(service.core.replace('/core', '/metrics'))).text()
      return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1])
    },
    async close() {
      await stores.close()
      await service.stop()
      await fresh.drop()
    },
  }
}
