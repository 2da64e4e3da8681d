import { beforeAll, describe, expect, it } from 'vitest'
import { type Enrolled, enroll, enrollOne, linkTo, sincere, typeBy, verifyOf } from '../harness/enrolled.js'
import { sharedService } from '../harness/service.js'

const service = await sharedService()
let owner: Enrolled
beforeAll(async () => {
  owner = await enroll(service, 'owner')
})

describe('a body with a misspelt or null field', () => {
  const verify = (body: unknown) => verifyOf(service, 'owner', body)
  const of = (path: string, name: string) => `${path} is not a field and was ignored; did you mean ${name}?`

  it('that is accepted is answered with warnings, on every route for a typing pattern or a code', async () => {
    const other = await enroll(service, 'other', 0)
    const key = await linkTo(service, 'create', 'other')
    const code = { securityCode: '749205', memberRef: 'other' }
    const misspelt =
      ({ userRef, fresh }: Enrolled) =>
      (words?: string) => ({ ...(fresh(words) as object), memberRef: userRef })
    const answers = [
      await sincere(verify, misspelt(owner)),
      await sincere((body) => service.call('POST', '/user-verify/owner', { body }), misspelt(owner)),
      await enrollOne(service, { ...other, fresh: misspelt(other) }),
      await typeBy(service, key, misspelt(other)),
      await sincere(
        (pattern) => service.call('POST', '/user-action/other', { body: { action: 'LINK_PATTERN', pattern } }),
        misspelt(other),
      ),
      await service.call('PUT', '/users/other/security-code', { session: other.session, body: code }),
      await verifyOf(service, 'other', code),
    ]
    for (const { status, json } of answers)
      expect([status, json.warnings], json.message).toEqual([200, [of('memberRef', 'member_ref')]])
    const link = await service.callLinks('POST', '/api/links/create-profile/other', {
      body: { redirectUri: 'https://login.example.com/', Validity: 60 },
    })
    expect(link.json.warnings).toEqual([of('redirectUri', 'redirect_uri'), of('Validity', 'validity')])
  })

  it('has no warnings if every field is known, or resembles none', async () => {
    expect((await verify({ ...(owner.fresh() as object), customer: 1 })).json).not.toHaveProperty('warnings')
    const plain = await service.callLinks('POST', '/api/links/create-profile/other')
    expect(plain.json).not.toHaveProperty('warnings')
  })

  it('or without known fields is refused by verify, and the message names the fields of a pattern and of a code', async () => {
    for (const body of [{}, { security_code: '749205' }]) {
      const { status, json } = await verify(body)
      expect([status, json.reason]).toEqual([422, 'invalid-data'])
      for (const name of ['securityCode', 'agent', 'version', 'kevt', 'k']) expect(json.message).toContain(name)
    }
    expect((await verify({ security_code: '749205' })).json.message).toContain('; security_code is not a field')
    expect((await verify({ securityCode: null })).json.message).toBe('securityCode: must be a string')
  })

  it('may contain null for an optional field; an invalid address is refused', async () => {
    const nulls = { ip: null, member_ref: null, sId: null, tags: null, k: null, d: { ua: null, sW: null } }
    expect((await verify({ ...(owner.fresh() as object), ...nulls })).status).toBe(200)
    const refused = await verify({ ...(owner.fresh() as object), ip: 'not-an-ip' })
    expect([refused.status, refused.json.message]).toEqual([422, 'ip: must be an IPv4 or IPv6 address'])
  })
})

// Regression: scoring dropped the mark, and the search for `member_ref` found no object behind it.
it.each(['verify', 'typing-patterns'])('a byte order mark before a pattern is 422: %s', async (call) => {
  const { session } = await service.bootstrap('owner')
  const answer = await fetch(`${service.core}/users/owner/${call}`, {
    method: 'POST',
    headers: { apikey: service.apikey, 'x-service-session': session, 'content-type': 'application/json' },
    body: Buffer.from(`\ufeff${JSON.stringify(owner.fresh())}`),
  })
  expect([answer.status, await answer.json()]).toMatchObject([422, { reason: 'invalid-data' }])
})
