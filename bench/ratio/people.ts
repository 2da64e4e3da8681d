import { setTimeout as delay } from 'node:timers/promises'
import { suggestWords } from '../../src/domain/typing-words.js'
import { person } from '../../src/typist/made-up-person.js'
import { patternBody } from '../load/pattern-body.js'

/** Key presses of a verified pattern: 14 kB, the size assumed by the design and the bars. */
export const PRESSES = 31
export const userRef = (index: number): string => `bench-${index}`

/** A pattern of a synthetic person as the recorder sends it; no two ordinals give the same typing. */
export function bodyOf(index: number, ordinal: number, presses = PRESSES): string {
  let text = ''
  for (let seed = ordinal; text.length < presses; seed += 7919)
    text += `${text === '' ? '' : ' '}${suggestWords('en', seed).join(' ')}`
  return patternBody(
    person(index).keys(text.slice(0, presses).replace(/ $/, 'e'), ordinal),
    Date.now(),
    `203.0.113.${1 + (index % 254)}`,
  )
}

/** Key presses that words suggested for a sign-in give. */
export const ENROLLED_PRESSES = 44
const AT_ONCE = 8
/** Tries of a request: on a busy machine the service may answer 503. Nothing is measured here. */
const TRIES = 40
const RETRY_MS = 250
const ANSWER_MS = 60_000
/** First ordinal of verified patterns, so that none repeats a reference. */
export const VERIFIED_FROM = 1000

interface Enrolling extends Core {
  readonly people: number
  /** Index of the first person; default 0. */
  readonly first?: number
  readonly references?: number
  /** Key presses of a reference; by default those of words suggested for an enrollment. */
  readonly presses?: number
  /** Called for each stored reference, in order. */
  readonly onStored?: (index: number, body: string) => void
}

interface Core {
  readonly port: number
  readonly apikey: string
}

/** A call of the core API, which a busy machine may answer 503 for a while. */
type CoreCall = (method: string, path: string, sent?: { session?: string; body?: string }) => Promise<Response>

/** Calls the core API of a service. A call without an answer within a minute fails. */
export function coreCall({ port, apikey }: Core): CoreCall {
  const headers = { apikey, 'content-type': 'application/json' }
  const call = async (method: string, path: string, { session = '', body = '' } = {}, tries = 0): Promise<Response> => {
    const answer = await fetch(`http://127.0.0.1:${port}/core${path}`, {
      method,
      headers: session === '' ? headers : { ...headers, 'x-service-session': session },
      ...(body === '' ? {} : { body }),
      signal: AbortSignal.timeout(ANSWER_MS),
    })
    if (answer.status !== 503 || tries === TRIES) return answer
    await answer.arrayBuffer()
    await delay(RETRY_MS)
    return call(method, path, { session, body }, tries + 1)
  }
  return (method, path, sent) => call(method, path, sent)
}

/** Runs `work` on each index, a few at once. */
export async function forEachOf(first: number, count: number, work: (index: number) => Promise<void>): Promise<void> {
  let next = first
  const lane = async () => {
    for (let index = next++; index < first + count; index = next++) await work(index)
  }
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, count) }, lane))
}

/** Creates and enrolls people through the core API. */
export async function enroll({
  port,
  apikey,
  people,
  first = 0,
  references = 5,
  presses = ENROLLED_PRESSES,
  onStored = () => {},
}: Enrolling): Promise<void> {
  const call = coreCall({ port, apikey })
  const one = async (index: number): Promise<void> => {
    const created = await call('POST', `/users/${userRef(index)}`)
    await created.arrayBuffer()
    const begun = await call('GET', `/users/${userRef(index)}`)
    await begun.arrayBuffer()
    const session = begun.headers.get('x-service-session') ?? ''
    for (let n = 0, stored = 0; stored < references && n < VERIFIED_FROM; n++) {
      const body = bodyOf(index, n, presses)
      const answer = await call('POST', `/users/${userRef(index)}/typing-patterns`, { session, body })
      const text = await answer.text()
      // "seen before": an earlier try was answered 503 but had stored the pattern.
      if (answer.ok || text.includes('seen before')) {
        stored++
        onStored(index, body)
        // Synthetic people are sometimes classified as machines; then they type again.
      } else if (!text.includes('detection-bot')) throw new Error(`enrolling a person: ${answer.status} ${text}`)
    }
  }
  await forEachOf(first, people, one)
}
