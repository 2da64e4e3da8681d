import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { Refusal, type RefusalKind } from '../../src/domain/refusal.js'
import { wireRefusals } from '../../src/http/refusals.js'
import { routesFor } from '../../src/http/route.js'
import { ask, request } from '../harness/raw.js'
import { goodKey, ROW, type Running, type Services, start, stop } from './table.js'

// Sound: the keys of the table are the kinds.
const KINDS = Object.keys(wireRefusals) as RefusalKind[]

const refuse = routesFor<Services>()({
  ...ROW,
  method: 'get',
  path: '/refuse/{kind}',
  params: z.object({ kind: z.enum(KINDS) }),
  replies: {},
  handle: async ({ params }) => {
    throw new Refusal(params.kind, 'the message')
  },
})

describe('a refusal', () => {
  let running: Running
  beforeAll(async () => {
    running = await start({ apis: [{ basePath: '/core', scope: 'core', title: 'Refusals', routes: [refuse] }] })
  })
  afterAll(() => stop(running))
  const refused = (kind: RefusalKind) =>
    ask(running.server.port, request(`GET /core/refuse/${kind}`, [`apikey: ${goodKey}`]))

  it('has the status of its kind, a message and a reason, and Retry-After if it passes', async () => {
    for (const kind of KINDS) {
      const answer = await refused(kind)
      const { timestamp: _, ...body } = JSON.parse(answer?.text ?? '')
      const { status, reason } = wireRefusals[kind]
      const wanted = { success: false, message: expect.any(String), ...(reason === null ? {} : { reason }) }
      expect([kind, answer?.status, body]).toEqual([kind, status, wanted])
      expect(answer?.headers.has('retry-after')).toBe(status === 429 || status === 503)
    }
  })

  it('is logged with its kind, and with its message only if a part was away, because other messages may quote the call', async () => {
    const kinds: [RefusalKind, string | undefined][] = [
      ['validation-failed', undefined],
      ['degraded', 'the message'],
      ['internal', undefined],
    ]
    for (const [kind, why] of kinds) {
      await refused(kind)
      const last = running.lines.map((line) => JSON.parse(line)).findLast(({ message }) => message === 'refused')
      expect([last.kind, last.why]).toEqual([kind, why])
    }
  })
})
