import { bodyOf, PRESSES, userRef, VERIFIED_FROM } from '../ratio/people.js'

/** The next unused typing of each person: the service refuses one that it has seen. */
const typed = new Map<number, number>()

interface Service {
  readonly port: number
  readonly apikey: string
}

interface Reply {
  readonly status: number
  readonly session: string
  readonly text: string
}

async function call(
  { port, apikey }: Service,
  method: string,
  path: string,
  { session = '', body = '' } = {},
): Promise<Reply> {
  const answer = await fetch(`http://127.0.0.1:${port}/core/users/${path}`, {
    method,
    headers: {
      apikey,
      'content-type': 'application/json',
      ...(session === '' ? {} : { 'x-service-session': session }),
    },
    ...(body === '' ? {} : { body }),
  })
  return { status: answer.status, session: answer.headers.get('x-service-session') ?? '', text: await answer.text() }
}

/** Status of the person's account: 200, or 404 if there is none. */
export const lookUp = async (service: Service, index: number): Promise<Reply> => call(service, 'GET', userRef(index))

/** Deletes the person. Throws unless the service did. */
export async function erase(service: Service, index: number): Promise<void> {
  const { status, text } = await call(service, 'DELETE', userRef(index))
  if (status !== 200) throw new Error(`deleting ${userRef(index)}: ${status} ${text}`)
}

/** One typing of the person in this session. */
export function verify(service: Service, index: number, session: string): Promise<Reply> {
  const ordinal = typed.get(index) ?? VERIFIED_FROM
  typed.set(index, ordinal + 1)
  return call(service, 'POST', `${userRef(index)}/verify`, { session, body: bodyOf(index, ordinal, PRESSES) })
}

/** Typings of a session, and sessions: a person who is not recognized types again, as at any sign-in. */
const TYPINGS = 3
const SESSIONS = 3

/** Signs the person in by typing; returns the number of typings. Throws if the person is not authenticated. */
export async function signIn(service: Service, index: number): Promise<number> {
  let last = ''
  for (let n = 0; n < TYPINGS * SESSIONS; ) {
    const { status, session, text } = await lookUp(service, index)
    if (status !== 200) throw new Error(`${userRef(index)}: wanted a session, got ${status} ${text}`)
    for (let each = 0; each < TYPINGS; each++) {
      n += 1
      const answer = await verify(service, index, session)
      if (answer.text.includes('"authenticated":true')) return n
      last = `${answer.status} ${answer.text}`
    }
  }
  throw new Error(`${userRef(index)} is not authenticated: ${last}`)
}
