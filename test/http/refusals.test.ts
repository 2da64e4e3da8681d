import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { Refusal, type RefusalKind } from '../../src/domain/refusal.js'
import { wireRefusals } from '../../src/http/refusals.js'
import { routesFor } from '../../src/http/route.js'
import { ask, request } from './raw.js'
import { goodKey, type Running, type Services, start, stop } from './table.js'

/** Status and reason of each kind, copied from the interface's Errors and our choices. */
const wanted: Record<RefusalKind, [number, string | undefined]> = {
  'request-malformed': [400, 'invalid-data'],
  'session-missing': [400, 'invalid-data'],
  'member-required': [400, 'invalid-data'],
  'member-mismatch': [400, 'invalid-data'],
  'key-missing': [401, undefined],
  'key-scope': [403, 'invalid-action'],
  'cross-site': [403, 'invalid-action'],
  'core-word': [403, 'invalid-action'],
  'path-unknown': [404, 'invalid-action'],
  'user-not-found': [404, 'user-not-found'],
  'pattern-not-found': [404, 'invalid-data'],
  'nothing-found': [404, 'invalid-data'],
  'typing-word-not-found': [404, 'invalid-data'],
  'link-unknown': [404, 'invalid-data'],
  'method-not-allowed': [405, 'invalid-action'],
  'profile-complete': [409, 'invalid-action'],
  'profile-locked': [409, 'invalid-action'],
  'account-type': [409, 'invalid-action'],
  'member-exists': [409, 'invalid-action'],
  'accounts-quota': [409, 'quota-exceeded'],
  'shared-accounts-quota': [409, 'quota-exceeded'],
  'members-quota': [409, 'quota-exceeded'],
  'policy-default': [409, 'invalid-action'],
  'key-own': [409, 'invalid-action'],
  'typing-word-taken': [409, 'invalid-action'],
  'typing-words-bound': [409, 'invalid-action'],
  'body-too-large': [413, 'invalid-data'],
  'media-type-unsupported': [415, 'invalid-data'],
  'validation-failed': [422, 'invalid-data'],
  'pattern-invalid': [422, 'invalid-data'],
  'security-code-weak': [422, 'invalid-data'],
  'bot-detected': [422, 'detection-bot'],
  'replay-detected': [422, 'fraud-detected'],
  'too-soon': [429, 'quota-exceeded'],
  'rate-limited': [429, 'quota-exceeded'],
  'over-rate': [429, 'quota-exceeded'],
  internal: [500, 'internal-error'],
  degraded: [503, 'api-failed'],
  overloaded: [503, 'api-failed'],
}

const refuse = routesFor<Services>()({
  method: 'get',
  path: '/refuse/{kind}',
  summary: 'Refuse as asked',
  countedAs: 'other',
  lane: 'core',
  needsKey: true,
  needsSession: false,
  // Sound: the keys of the table are the kinds.
  params: z.object({ kind: z.enum(Object.keys(wireRefusals) as RefusalKind[]) }),
  query: z.object({}),
  body: { kind: 'none' },
  replies: {},
  refuses: [],
  handle: async ({ params }) => {
    throw new Refusal(params.kind, 'the message')
  },
})

let running: Running
beforeAll(async () => {
  running = await start({ apis: [{ basePath: '/core', scope: 'core', title: 'Refusals', routes: [refuse] }] })
})
afterAll(() => stop(running))

describe('a refusal', () => {
  for (const [kind, [status, reason]] of Object.entries(wanted)) {
    it(`${kind} is ${status} ${reason ?? 'without a reason'}`, async () => {
      const answer = await ask(running.server.port, request(`GET /core/refuse/${kind}`, [`apikey: ${goodKey}`]))
      expect(answer?.status).toBe(status)
      const body = JSON.parse(answer?.text ?? '')
      expect(Object.keys(body)).toEqual([
        'timestamp',
        'success',
        'message',
        ...(reason === undefined ? [] : ['reason']),
      ])
      expect([body.success, body.reason]).toEqual([false, reason])
      expect(answer?.headers.has('retry-after')).toBe(status === 429 || status === 503)
    })
  }

  it('is logged with its kind, and with its message only if a part was away, because other messages may quote the call', async () => {
    const kinds: [RefusalKind, string | undefined][] = [
      ['validation-failed', undefined],
      ['degraded', 'the message'],
      ['internal', undefined],
    ]
    for (const [kind, why] of kinds) {
      await ask(running.server.port, request(`GET /core/refuse/${kind}`, [`apikey: ${goodKey}`]))
      const last = running.lines.map((line) => JSON.parse(line)).findLast(({ message }) => message === 'refused')
      expect([last.kind, last.why]).toEqual([kind, why])
    }
  })
})
