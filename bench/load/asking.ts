import { randomFrom } from '../../src/typist/made-up-person.js'
import type { Answer, Ask, Client, Json } from './client.js'
import { wallClock } from './loops.js'
import { type Count, type Operation, oneMore, type Recorder } from './recorder.js'
import type { Crowd, Typist } from './typists.js'

/** A person with an account of this run. */
export interface Member {
  readonly userRef: string
  readonly typist: Typist
  readonly ip: string
  /** The security code; null if the person signs in by typing only. */
  code: string | null
  typed: number
  busy: boolean
  /** End of the person's lock, epoch ms: earlier sign-ins are not tried. */
  lockedUntil: number
}

/** Dependencies and settings of sign-ins and enrollments. */
export interface AskingNeeds {
  readonly client: Client
  readonly recorder: Recorder
  readonly crowd: Crowd
  /** Share of members that set a security code when they enroll. */
  readonly codes: number
  /** Seed of the random choices. */
  readonly seed: number
}

/** One sign-in or enrollment, from its intended start on the clock of `performance.now`. */
export interface Visit {
  readonly intended: number
  /** False during the warm-up. */
  readonly counted: boolean
  /** Whether a shed request (503, 429) is retried: for people that the run needs. */
  readonly insists?: boolean
}

/** Tries of a request that is retried when shed, and the pause between two tries. */
const [TRIES, PAUSE_MS] = [30, 1000]

/** The suggested words of an answer; empty if none. */
export const words = (json: Json): string[] =>
  Array.isArray(json.suggestedWords)
    ? json.suggestedWords.filter((word): word is string => typeof word === 'string')
    : []

/** The result of `asking`. */
export type Asking = ReturnType<typeof asking>

/** Shared by sign-ins and enrollments: counting, checks of answers, and the initial bootstrap. */
export function asking({ client, recorder, seed }: AskingNeeds) {
  const random = randomFrom(seed)
  const count = (visit: Visit, name: Count) => {
    if (visit.counted) recorder.count(name)
  }
  /** Counts the faults of an answer with a wanted status; true if it has none. */
  const sound = (visit: Visit, operation: Operation, faults: Readonly<Record<string, boolean>>): boolean => {
    const found = Object.keys(faults).filter((name) => faults[name])
    if (visit.counted) for (const fault of found) oneMore(recorder.of(operation).wrong, fault)
    return found.length === 0
  }
  async function ask({ insists = false, ...visit }: Visit, it: Omit<Ask, keyof Visit>): Promise<Answer> {
    let answer = await client.ask({ ...visit, ...it })
    for (let tries = 1; insists && answer !== null && isFull(answer.status) && tries < TRIES; tries++) {
      await wallClock.sleep(PAUSE_MS)
      answer = await client.ask({ ...visit, ...it, intended: performance.now() })
    }
    return answer
  }
  const path = (member: Member) => `/users/${encodeURIComponent(member.userRef)}`

  /** Returns null if the request failed or its answer is wrong. The answer must return a given session. */
  async function bootstrap(member: Member, visit: Visit, session?: string): Promise<Answer> {
    const answer = await ask(visit, {
      operation: 'bootstrap',
      method: 'GET',
      path: path(member),
      wanted: [200],
      ...(session === undefined ? {} : { session }),
    })
    if (answer === null || !answer.ok) return null
    const faults = {
      'no session': answer.session === '' || answer.session !== answer.json.sessionId,
      'session not echoed': session !== undefined && answer.session !== session,
      'another user': answer.json.userRef !== member.userRef,
    }
    return sound(visit, 'bootstrap', faults) ? answer : null
  }

  return { random, count, sound, ask, path, bootstrap }
}

const isFull = (status: number) => status === 503 || status === 429
