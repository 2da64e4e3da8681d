import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type FreshDatabase, freshDatabase } from '../servers/database.js'
import { redisUrl, startService, type TestService } from '../service.js'
import { type Enrolled, enroll, stranger } from './enrolled.js'

const CODE = '749205'

describe('an attempt whose record cannot be written', () => {
  let fresh: FreshDatabase
  let service: TestService
  let client: pg.Client
  let who: Enrolled
  beforeAll(async () => {
    fresh = await freshDatabase()
    service = await startService(fresh.url, { redisUrl, more: { LOG_LEVEL: 'silent' } })
    client = new pg.Client({ connectionString: fresh.url })
    await client.connect()
    who = await enroll(service, 'unwritten')
    await service.call('PUT', '/users/unwritten/security-code', { session: who.session, body: { securityCode: CODE } })
    await client.query(`
      create function public.refuse_record() returns trigger language plpgsql as
        $$ begin raise exception 'no record' using errcode = '22P05'; end $$`)
  })
  afterAll(async () => {
    await client.end()
    await service.close()
    await fresh.drop()
  })

  async function withoutRecords(work: () => Promise<void>): Promise<void> {
    await client.query(`
      create trigger refuse_record before insert on keystride.authentication
        for each row execute function public.refuse_record()`)
    try {
      await work()
    } finally {
      await client.query('drop trigger refuse_record on keystride.authentication')
    }
  }

  it.each([
    ['a typing pattern', () => who.fresh(), () => stranger(), 'remainingBiometricAttempts'],
    ['a security code', () => ({ securityCode: CODE }), () => ({ securityCode: '193746' }), 'remainingCodeAttempts'],
  ] as const)('is used up, and never a success: %s', async (_, right, wrong, remaining) => {
    const { session } = await service.bootstrap('unwritten')
    const verify = (sent: unknown) => service.call('POST', '/users/unwritten/verify', { session, body: sent })
    await withoutRecords(async () => {
      for (let n = 0; n < 2; n++) {
        const { status, json } = await verify(right())
        expect([status, json.reason]).toEqual([500, 'internal-error'])
        expect(json).not.toHaveProperty('authentication')
      }
    })
    // Two of three attempts are used, so this failure leaves none.
    const { json } = await verify(wrong())
    expect([json.action, json.nextAttempt[remaining]]).toEqual(['rejected', 0])
  })
})
