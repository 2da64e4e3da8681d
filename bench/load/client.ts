import { type ClientRequest, type IncomingMessage, Agent as PlainAgent, request as plainRequest } from 'node:http'
import { Agent as SecureAgent, request as secureRequest } from 'node:https'
import { type Operation, oneMore, type Recorder } from './recorder.js'

/** One request, and how to count it. */
export interface Ask {
  readonly operation: Operation
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Path below the core API's base. */
  readonly path: string
  readonly session?: string
  /** ASCII only: its length is its number of bytes. */
  readonly body?: string
  /** Intended start on the clock of `performance.now`; latency counts from here. */
  readonly intended: number
  /** False during the warm-up: sent, but left out of the figures. */
  readonly counted: boolean
  /** Statuses that are no failure. */
  readonly wanted: readonly number[]
}

/** An answer, or null if none arrived; the cause is counted then. `ok` is true if the status was wanted. */
export type Answer = {
  readonly ok: boolean
  readonly status: number
  readonly session: string
  readonly json: Json
} | null
/** An answer's body, not yet validated. */
export type Json = Readonly<Record<string, unknown>>

/** Sends requests over a bounded number of keep-alive connections; a request without a free connection waits. */
export interface Client {
  ask(ask: Ask): Promise<Answer>
  close(): void
}

/** Key under which an abandoned request is counted. */
const TIMEOUT = 'timeout'
/** Below the 10 s after which the service closes an idle connection, so that no request meets a closing one. */
const IDLE_MS = 7000

interface ClientNeeds {
  readonly core: string
  readonly apikey: string
  readonly connections: number
  readonly timeoutMs: number
  readonly recorder: Recorder
  readonly onUnknownKey: () => void
}

/** A pool of keep-alive connections to one service. Calls `onUnknownKey` at a 401, because later requests would fail too. */
export function client(needs: ClientNeeds): Client {
  const { send, close } = connectionPool(needs)
  return { ask: (it) => new Promise((resolve) => exchange(needs, it, send, resolve)), close }
}

type Send = (ask: Ask) => ClientRequest

function connectionPool({ core, apikey, connections }: ClientNeeds): { readonly send: Send; close(): void } {
  const base = new URL(core)
  const secure = base.protocol === 'https:'
  const pool = { keepAlive: true, maxSockets: connections, maxFreeSockets: connections, timeout: IDLE_MS }
  const agent = secure ? new SecureAgent(pool) : new PlainAgent(pool)
  const open = secure ? secureRequest : plainRequest
  const fixed = { hostname: base.hostname.replace(/^\[|\]$/g, ''), port: base.port, agent }
  const send = ({ method, path, session, body }: Ask): ClientRequest =>
    open({
      ...fixed,
      method,
      path: base.pathname.replace(/\/$/, '') + path,
      headers: {
        apikey,
        ...(session === undefined ? {} : { 'x-service-session': session }),
        ...(body === undefined ? {} : { 'content-type': 'application/json', 'content-length': body.length }),
      },
    })
  return { send, close: () => agent.destroy() }
}

/** Sends one request. Calls `done` once: with the answer, or with null after a counted failure. */
function exchange(needs: ClientNeeds, it: Ask, send: Send, done: (answer: Answer) => void): void {
  const { recorder, timeoutMs, onUnknownKey } = needs
  let sentAt = it.intended
  let settled = false
  const asked = performance.now()
  const request = send(it)
  const settle = (): boolean => {
    if (settled) return false
    settled = true
    clearTimeout(limit)
    return true
  }
  const failed = (code: string) => {
    if (!settle()) return
    if (it.counted) countFailure(recorder, it, code)
    done(null)
  }
  const tooLate = () => {
    failed(TIMEOUT)
    request.destroy()
  }
  // The time-out counts from the intended start, whether the request is in flight or waits for a connection.
  const limit = setTimeout(tooLate, Math.max(1, it.intended - asked + timeoutMs))
  const answered = (response: IncomingMessage, text: string) => {
    if (!settle()) return
    const status = response.statusCode ?? 0
    if (status === 401) onUnknownKey()
    const ok = it.wanted.includes(status)
    if (it.counted) countAnswer(recorder, it, { status, ok, sentAt })
    done({ ok, status, session: String(response.headers['x-service-session'] ?? ''), json: parsed(text) })
  }
  request.once('socket', () => {
    sentAt = performance.now()
    if (it.counted) recorder.waited.record(sentAt - asked)
  })
  request.once('error', (error: NodeJS.ErrnoException) => failed(error.code ?? error.message))
  request.once('response', (response) => {
    bodyOf(response).then(
      (text) => answered(response, text),
      (error: NodeJS.ErrnoException) => failed(error.code ?? 'broken answer'),
    )
  })
  request.end(it.body, 'latin1')
}

function countFailure(recorder: Recorder, { operation, intended }: Ask, code: string): void {
  const seen = recorder.of(operation)
  oneMore(seen.transport, code)
  // A timed-out request waited at least this long. Without it, a stall above the time-out would shorten the tail.
  if (code === TIMEOUT) seen.latency.record(performance.now() - intended)
}

function countAnswer(
  recorder: Recorder,
  { operation, intended }: Ask,
  { status, ok, sentAt }: { readonly status: number; readonly ok: boolean; readonly sentAt: number },
): void {
  const seen = recorder.of(operation)
  oneMore(seen.statuses, String(status))
  if (!ok) {
    seen.unwanted++
    return
  }
  const now = performance.now()
  seen.latency.record(now - intended)
  seen.service.record(now - sentAt)
}

function bodyOf(response: IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    response.setEncoding('utf8')
    response.on('data', (chunk: string) => {
      text += chunk
    })
    response.once('end', () => resolve(text))
    response.once('error', reject)
    response.once('aborted', () => reject(Object.assign(new Error('aborted'), { code: 'ECONNRESET' })))
  })
}

/** An answer that is no JSON object becomes an empty one, which fails every check of its fields. */
function parsed(text: string): Json {
  try {
    const value: unknown = JSON.parse(text)
    // Sound: a non-null object that is no array has string keys.
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {}
  } catch {
    return {}
  }
}
