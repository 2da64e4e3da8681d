/** The calls of the core API that a verify takes. None throws: without an answer the status is 0. */
import { isObject } from './checks.js'

export interface Reply {
  /** HTTP status; 0 without an answer. */
  readonly status: number
  /** The body; null if it is no JSON object. */
  readonly json: Readonly<Record<string, unknown>> | null
  /** Why there is no answer; empty otherwise. */
  readonly problem: string
}

interface Target {
  readonly url: string
  readonly apikey: string
  readonly userRef: string
  readonly memberRef: string | undefined
  readonly signal: AbortSignal
}

export function createCore({ url, apikey, userRef, memberRef, signal }: Target) {
  const user = `${url.replace(/\/+$/, '')}/core/users/${encodeURIComponent(userRef)}`
  const query = memberRef === undefined ? '' : `?member_ref=${encodeURIComponent(memberRef)}`
  async function call(method: string, path: string, sessionId?: string, body?: object): Promise<Reply> {
    const session: Record<string, string> = sessionId === undefined ? {} : { 'x-service-session': sessionId }
    const type: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/json' }
    try {
      const answer = await fetch(user + path + query, {
        method,
        headers: { apikey, accept: 'application/json', ...session, ...type },
        body: body === undefined ? null : JSON.stringify(body),
        // A redirect would carry the key to another address.
        redirect: 'manual',
        signal,
      })
      const json = jsonOf(await answer.text())
      return { status: answer.status, json: isObject(json) ? json : null, problem: '' }
    } catch {
      return { status: 0, json: null, problem: signal.aborted ? 'no answer in time' : 'no connection to the service' }
    }
  }
  return {
    bootstrap: () => call('GET', ''),
    create: () => call('POST', '', undefined, {}),
    enroll: (sessionId: string, pattern: object) => call('POST', '/typing-patterns', sessionId, pattern),
    verify: (sessionId: string, pattern: object) => call('POST', '/verify', sessionId, pattern),
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
