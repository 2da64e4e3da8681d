import { z } from 'zod'
import { routesFor } from '../../src/http/route.js'
import { goodKey, nothing, ROW, type Running, type Services, start } from './table.js'

/** A request that the server has parsed and answered with success. */
export interface Served {
  /** The person of the request: each request of a test names another one. */
  readonly mark: string
  /** True if a proxy forwarded it as a separate request: it then has X-Forwarded-For. */
  readonly passedOn: boolean
}

export interface Marked {
  readonly running: Running
  readonly served: Served[]
}

/** Starts a server that accepts any body, answers every request with its mark, and records the served requests. */
export async function startMarked(): Promise<Marked> {
  const served: Served[] = []
  const common = {
    ...ROW,
    path: '/users/{userRef}',
    params: z.object({ userRef: z.string() }),
    headers: z.object({ 'X-Forwarded-For': z.string().optional() }),
    replies: { 200: z.object({ userRef: z.string() }) },
  } as const
  const say = async (userRef: string, headers: z.infer<typeof common.headers>) => {
    served.push({ mark: userRef, passedOn: headers['X-Forwarded-For'] !== undefined })
    return { status: 200 as const, payload: { userRef } }
  }
  const route = routesFor<Services>()
  const routes = [
    route({ ...common, method: 'get', handle: ({ params, headers }) => say(params.userRef, headers) }),
    route({
      ...common,
      method: 'put',
      body: { kind: 'bytes', maxBytes: 64 * 1024, documents: nothing },
      handle: ({ params, headers }) => say(params.userRef, headers),
    }),
  ]
  const ok = () => ({ status: 200, contentType: 'text/plain', body: 'ok' })
  const running = await start({
    apis: [{ basePath: '/core', scope: 'core', title: 'Core', routes }],
    plain: [{ method: 'get', path: '/readyz', handle: ok }],
    // Short, so that a test does not wait long for a body that never comes.
    bodyDeadlineMs: 150,
  })
  return { running, served }
}

/** The key of every request to a marked server. */
export const key = `apikey: ${goodKey}`
