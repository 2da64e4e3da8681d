import { randomFrom } from '../../src/typist/made-up-person.js'
import type { Answer, Ask, Client, Json } from './client.js'
import { wallClock } from './loops.js'
import { type Count, type Operation, oneMore, type Recorder } from './recorder.js'
import type { Crowd, Typist } from './typists.js'

/** Somebody with an account of this run. */
export interface Member {
  readonly userRef: string
  readonly typist: Typist
  readonly ip: string
  /** Null where this person signs in by typing alone. */
  code: string | null
  typed: number
  busy: boolean
  /** Until when no sign-in is worth an attempt, epoch ms. */
  lockedUntil: number
}

/** What every going through the service takes. */
export interface AskingNeeds {
  readonly client: Client
  readonly recorder: Recorder
  readonly crowd: Crowd
  /** Share of members who set a security code when they enroll. */
  readonly codes: number
  /** From an answer to the next pattern or code, ms: as long as a person types. */
  readonly thinkMs: number
  readonly seed: number
}

/** One going through the service, from its intended start on the clock of `performance.now`. */
export interface Turn {
  readonly intended: number
  /** False in the warm-up. */
  readonly counted: boolean
  /** Whether a request that the service has no room for (503, 429) is asked again: people who must be there for a run. */
  readonly insists?: boolean
}

/** Tries of a request that is insisted on, and the pause between two. */
const [TRIES, PAUSE_MS] = [30, 1000]

/** The words an answer suggests; none where it has none. */
export const words = (json: Json): string[] =>
  Array.isArray(json.suggestedWords)
    ? json.suggestedWords.filter((word): word is string => typeof word === 'string')
    : []

/** What `asking` gives. */
export type Asking = ReturnType<typeof asking>

/** What every going shares: counting, checking answers, and the bootstrap that it begins with. */
export function asking({ client, recorder, seed }: AskingNeeds) {
  const random = randomFrom(seed)
  const count = (turn: Turn, name: Count) => {
    if (turn.counted) recorder.count(name)
  }
  /** Counts what a sound answer has wrong; true where nothing is. */
  const sound = (turn: Turn, operation: Operation, faults: Readonly<Record<string, boolean>>): boolean => {
    const found = Object.keys(faults).filter((name) => faults[name])
    if (turn.counted) for (const fault of found) oneMore(recorder.of(operation).wrong, fault)
    return found.length === 0
  }
  async function ask({ insists = false, ...turn }: Turn, it: Omit<Ask, keyof Turn>): Promise<Answer> {
    let answer = await client.ask({ ...turn, ...it })
    for (let tries = 1; insists && answer !== null && isFull(answer.status) && tries < TRIES; tries++) {
      await wallClock.sleep(PAUSE_MS)
      answer = await client.ask({ ...turn, ...it, intended: performance.now() })
    }
    return answer
  }
  const path = (member: Member) => `/users/${encodeURIComponent(member.userRef)}`

  /** Null where it failed or was answered wrongly; the session given has to come back. */
  async function bootstrap(member: Member, turn: Turn, session?: string): Promise<Answer> {
    const answer = await ask(turn, {
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
    return sound(turn, 'bootstrap', faults) ? answer : null
  }

  return { random, count, sound, ask, path, bootstrap }
}

const isFull = (status: number) => status === 503 || status === 429
