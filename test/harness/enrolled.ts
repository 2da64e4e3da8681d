import { expect } from 'vitest'
import { suggestWords } from '../../src/domain/typing-words.js'
import { type MadeUpPerson, person, wirePattern } from '../../src/typist/made-up-person.js'
import { until } from './patience.js'
import type { Answer, TestService } from './service.js'

export interface Enrolled {
  readonly userRef: string
  readonly session: string
  readonly who: MadeUpPerson
  /** The first pattern that was enrolled. */
  readonly first: unknown
  /** A new pattern of this person, with a new text unless one is given. */
  readonly fresh: (words?: string) => unknown
}

/** Sentences that share pairs of keys, as suggested words do. */
export const text = (seed: number) => suggestWords('en', seed).join(' ')

/** The latest seed by test file, so that a file has the same people in any order of the files. */
const seeds = new Map<string, number>()

function nextSeed(): number {
  const file = expect.getState().testPath ?? ''
  const seed = (seeds.get(file) ?? 0) + 1
  seeds.set(file, seed)
  return seed
}

/** A synthetic person with `count` enrolled patterns and a live session. */
export async function enroll(service: TestService, userRef: string, count = 5): Promise<Enrolled> {
  const seed = nextSeed()
  const who = person(seed)
  // A service that has just started on a busy machine may reach its stores late.
  await until(async () => (await service.call('GET', '/status')).json.status === 'OK', 'start')
  await service.call('POST', `/users/${userRef}`)
  const { session } = await service.bootstrap(userRef)
  let stored = 0
  let first: unknown
  // Synthetic people are sometimes classified as machines; then they type again.
  for (let n = 0; stored < count; n++) {
    const body = who.types(text(n), n)
    const { status, json } = await service.call('POST', `/users/${userRef}/typing-patterns`, { session, body })
    if (status === 200) {
      stored++
      first ??= body
    } else expect(json.reason, JSON.stringify(json)).toBe('detection-bot')
  }
  let next = 100
  return { userRef, session, who, first, fresh: (words) => who.types(words ?? text(next), next++) }
}

/** A pattern of another person, a new one each time, who types far more slowly than any enrolled person. */
export const stranger = (tempo = 2) => {
  const seed = 500_000 + nextSeed()
  return person(seed).types(text(seed), seed, { tempo })
}

/** The typing of a machine, with one key press each `gap` milliseconds. */
export const machine = (gap: number) => wirePattern([...text(3)].map((letter, i) => [letter, i * gap, i * gap + 60]))

/** Sends patterns of a person until one is not classified as a machine's, as one in fifty is, or as a copy, as one in 600 is. */
export async function sincere(send: (body: unknown) => Promise<Answer>, fresh: () => unknown): Promise<Answer> {
  let answer = await send(fresh())
  while (['detection-bot', 'fraud-detected'].includes(answer.json.reason)) answer = await send(fresh())
  return answer
}

/** Enrolls one more pattern, which is not classified as a machine's. */
export const enrollOne = (service: TestService, { userRef, session, fresh }: Enrolled, other = session) =>
  sincere((body) => service.call('POST', `/users/${userRef}/typing-patterns`, { session: other, body }), fresh)

/** Verifies a user by a pattern or code, in a new session unless one is given. */
export async function verifyOf(service: TestService, userRef: string, body: unknown, session?: string) {
  const own = session ?? (await service.bootstrap(userRef)).session
  return service.call('POST', `/users/${userRef}/verify`, { session: own, body })
}

/** A session in which typing has just succeeded. */
export async function authenticated(service: TestService, { userRef, fresh }: Enrolled): Promise<string> {
  for (;;) {
    const { session } = await service.bootstrap(userRef)
    for (let attempt = 0; attempt < 3; attempt++) {
      const { json } = await verifyOf(service, userRef, fresh(), session)
      if (json.authentication.authenticated) return session
    }
  }
}

/** Makes a profile link and returns its key. */
export async function linkTo(service: TestService, kind: string, userRef: string, body: object = {}): Promise<string> {
  const { status, json } = await service.callLinks('POST', `/api/links/${kind}-profile/${userRef}`, { body })
  expect([status, json.message]).toEqual([200, 'Done'])
  return json.key
}

/** Sends a pattern by a profile link. */
export const sendBy = (service: TestService, key: string, body: unknown, headers: Record<string, string> = {}) =>
  service.callLinks('POST', '/typing-patterns', { body, headers: { 'x-link-key': key, ...headers } })

/** The words that the page of a link shows; any text if it shows none. */
export async function wordsBy({ auth }: TestService, key: string): Promise<string> {
  const page = await (await fetch(`${auth}/b/${key}`)).text()
  const data = /data-page="([^"]*)"/.exec(page)?.[1]?.replaceAll('&quot;', '"') ?? ''
  const shown = /"suggestedWords":\[([^\]]*)\]/.exec(data)?.[1]
  return shown === undefined ? text(1) : shown.replaceAll('"', '').replaceAll(',', ' ')
}

/** Types the words of a link's page by its key. `types` gives a pattern of the words, a new one each time. */
export async function typeBy(service: TestService, key: string, types: (words: string) => unknown): Promise<Answer> {
  const words = await wordsBy(service, key)
  return sincere(
    (body) => sendBy(service, key, body),
    () => types(words),
  )
}
