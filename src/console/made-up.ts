import { type MadeUpPerson, person, wirePattern } from '../typist/made-up-person.js'
import type { Data } from './answers.js'
import { ApiError, call, pathOf } from './api.js'

/** Beginning of the user references of made-up people: the service deletes nobody else with them. */
const PREFIX = 'made-up-'
const PEOPLE = 24
const AT_ONCE = 3
const REFERENCES = 5
/** Most typings of a person until five are stored: one in 500 is classified as a machine's, and is typed again. */
const TRIES = 20

/** Numbers of calls: those that are done, and all. */
export interface Advance {
  readonly done: number
  readonly all: number
}

/** How an attempt is typed: by the person, by a stranger, by a machine, or as the attempt before, key for key. */
type Attempt = 'self' | 'stranger' | 'machine' | 'again'
const ATTEMPTS: readonly Attempt[] = ['self', 'self', 'stranger', 'self', 'machine', 'self', 'self', 'again']

/**
 * Creates made-up people through the core API, who enroll and sign in, some of them attacked. Rejects with an `ApiError`; the
 * people made so far stay.
 */
export async function fillWithMadeUp(onProgress: (progress: Advance) => void): Promise<void> {
  const all = PEOPLE * (REFERENCES + ATTEMPTS.length)
  let done = 0
  await eachOf(
    Array.from({ length: PEOPLE }, (_, i) => i),
    (i) => enrollAndSignIn(i, () => onProgress({ done: ++done, all })),
  )
}

/** Deletes all made-up people with their data, and their attempts from the statistics. */
export async function deleteMadeUp(onProgress: (progress: Advance) => void): Promise<void> {
  for (let done = 0, left = 1; left > 0; ) {
    const { data } = await call<Data<{ deleted: number; left: number }>>('DELETE', '/organization/made-up-people')
    done += data.deleted
    left = data.left
    onProgress({ done, all: done + left })
  }
}

/** The parts of a bootstrap that a typist needs. */
interface Begun {
  readonly sessionId: string
  readonly suggestedWords: readonly string[]
}

/** Creates an account, enrolls five references and signs in, each time with the words that the service suggests. */
async function enrollAndSignIn(i: number, step: () => void): Promise<void> {
  const path = `/users${pathOf(`${PREFIX}${String(i + 1).padStart(2, '0')}`)}`
  const [self, stranger] = [person(i + 1), person(i + 1001)]
  const core = <T>(method: string, below: string, more = {}) => call<T>(method, path + below, { api: 'core', ...more })
  await core('POST', '')
  const { sessionId, suggestedWords } = await core<Begun>('GET', '')
  let typings = 0
  const typed = (typist: MadeUpPerson, words: readonly string[]) => typist.types(words.join(' '), typings++)
  for (let stored = 0; stored < REFERENCES && typings < TRIES; ) {
    const body = typed(self, suggestedWords)
    if (!(await isTaken(core('POST', '/typing-patterns', { session: sessionId, body })))) continue
    stored += 1
    step()
  }
  let before: object = {}
  for (const attempt of ATTEMPTS) {
    const begun = await core<Begun>('GET', '')
    const words = begun.suggestedWords
    if (attempt === 'self') before = typed(self, words)
    const body = attempt === 'stranger' ? typed(stranger, words) : attempt === 'machine' ? evenly(words) : before
    await core('POST', '/verify', { session: begun.sessionId, body })
    step()
  }
}

/** A machine's typing: every key alike. */
const evenly = (words: readonly string[]) =>
  wirePattern([...words.join(' ')].map((letter, i) => [letter, 140 * i, 140 * i + 90] as const))

/** False if the pattern was taken for a machine's. */
const isTaken = (answer: Promise<unknown>): Promise<boolean> =>
  answer.then(
    () => true,
    (error: unknown) => {
      if (error instanceof ApiError && error.status === 422) return false
      throw error
    },
  )

/** Runs `work` for `AT_ONCE` items at once, begun in order. The first rejection is the result. */
async function eachOf<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const left = [...items]
  const lane = async () => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, lane))
}
