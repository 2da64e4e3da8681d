import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Enrolled, enroll, stranger, verifyOf } from '../harness/enrolled.js'
import { startService } from '../harness/service.js'
import { freshDatabase } from '../servers/database.js'

const CODE = '749205'
const { url } = await freshDatabase()
const service = await startService(url, { more: { LOG_LEVEL: 'silent' } })
const client = new pg.Client({ connectionString: url })

describe('an attempt whose record cannot be written', () => {
  let who: Enrolled
  beforeAll(async () => {
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
    const verify = (sent: unknown) => verifyOf(service, 'unwritten', sent, session)
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
