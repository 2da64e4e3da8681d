import { type ClientRequest, type IncomingMessage, Agent as PlainAgent, request as plainRequest } from 'node:http'
import { Agent as SecureAgent, request as secureRequest } from 'node:https'
import { type Operation, oneMore, type Recorder } from './recorder.js'

/** One request, and how it is counted. */
export interface Ask {
  readonly operation: Operation
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Below the core API's base. */
  readonly path: string
  readonly session?: string
  /** ASCII alone: its length is its bytes. */
  readonly body?: string
  /** When this should have begun, on the clock of `performance.now`; latency counts from here. */
  readonly intended: number
  /** False in the warm-up: sent as any other, left out of the figures. */
  readonly counted: boolean
  /** Statuses that are no failure here. */
  readonly wanted: readonly number[]
}

/** Null: no answer came, and why is counted. `ok` where the status was wanted. */
export type Answer = {
  readonly ok: boolean
  readonly status: number
  readonly session: string
  readonly json: Json
} | null
/** An answer's body, its values not looked at yet. */
export type Json = Readonly<Record<string, unknown>>

/** Requests over a bounded number of kept connections; what no connection is free for waits. */
export interface Client {
  ask(ask: Ask): Promise<Answer>
  close(): void
}

/** What a request that was given up is counted under. */
const TIMEOUT = 'timeout'
/** Below the 10 s after which the service closes an idle connection, so that no request meets a closing one. */
const IDLE_MS = 7000

/** A pool of keep-alive connections to one service. A 401 is told to `onUnknownKey`: no later request would fare better. */
export function client(needs: {
  readonly core: string
  readonly apikey: string
  readonly connections: number
  readonly timeoutMs: number
  readonly recorder: Recorder
  readonly onUnknownKey: () => void
}): Client {
  const base = new URL(needs.core)
  const secure = base.protocol === 'https:'
  const pool = { keepAlive: true, maxSockets: needs.connections, maxFreeSockets: needs.connections, timeout: IDLE_MS }
  const agent = secure ? new SecureAgent(pool) : new PlainAgent(pool)
  const open = secure ? secureRequest : plainRequest
  const fixed = { hostname: base.hostname.replace(/^\[|\]$/g, ''), port: base.port, agent }

  const send = ({ method, path, session, body }: Ask): ClientRequest =>
    open({
      ...fixed,
      method,
      path: base.pathname.replace(/\/$/, '') + path,
      headers: {
        apikey: needs.apikey,
        ...(session === undefined ? {} : { 'x-service-session': session }),
        ...(body === undefined ? {} : { 'content-type': 'application/json', 'content-length': body.length }),
      },
    })

  const ask = (it: Ask): Promise<Answer> =>
    new Promise((resolve) => {
      let sentAt = it.intended
      const seen = needs.recorder.of(it.operation)
      const asked = performance.now()
      const request = send(it)
      const tooLate = () => {
        failed(TIMEOUT)
        request.destroy()
      }
      // From the intended start: whoever waits gives up, whether the request was under way or waited for a connection.
      const limit = setTimeout(tooLate, Math.max(1, it.intended - asked + needs.timeoutMs))
      let settled = false
      const failed = (code: string) => {
        if (settled) return
        settled = true
        clearTimeout(limit)
        if (it.counted) {
          oneMore(seen.transport, code)
          // Whoever gave up waited at least as long: left out, a stall above the time-out would make a tail look short.
          if (code === TIMEOUT) seen.latency.record(performance.now() - it.intended)
        }
        resolve(null)
      }
      request.once('socket', () => {
        sentAt = performance.now()
        if (it.counted) needs.recorder.waited.record(sentAt - asked)
      })
      request.once('error', (error: NodeJS.ErrnoException) => failed(error.code ?? error.message))
      request.once('response', (response) => {
        bodyOf(response).then(
          (text) => {
            if (settled) return
            settled = true
            clearTimeout(limit)
            const status = response.statusCode ?? 0
            const ok = it.wanted.includes(status)
            if (status === 401) needs.onUnknownKey()
            if (it.counted) {
              oneMore(seen.statuses, String(status))
              if (!ok) seen.unwanted++
              else {
                const now = performance.now()
                seen.latency.record(now - it.intended)
                seen.service.record(now - sentAt)
              }
            }
            resolve({ ok, status, session: String(response.headers['x-service-session'] ?? ''), json: parsed(text) })
          },
          (error: NodeJS.ErrnoException) => failed(error.code ?? 'broken answer'),
        )
      })
      request.end(it.body, 'latin1')
    })
  return { ask, close: () => agent.destroy() }
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

/** An answer that is no JSON object is empty here, and fails every check of its fields. */
function parsed(text: string): Json {
  try {
    const value: unknown = JSON.parse(text)
    // Sound: a non-null object that is no array has string keys.
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {}
  } catch {
    return {}
  }
}
