import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { hintReader } from '../../src/sso/hint.js'

let reply: { status: number; body: string }
const server = createServer((_, response) => response.writeHead(reply.status).end(reply.body))
let url = ''
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => new Promise((resolve) => server.close(resolve)))

/** Reads a hint by a new reader, which has fetched no keys yet. */
const read = (token: string, more: Partial<Parameters<typeof hintReader>[0]> = {}) =>
  hintReader({
    issuer: url,
    jwksUri: `${url}/jwks`,
    audience: 'bridge',
    name: 'preferred_username',
    acceptUnverified: false,
    ...more,
  })(token)

const { privateKey, publicKey } = await generateKeyPair('RS256')
const keys = JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), kid: 'up', alg: 'RS256' }] })
const signed = (kid: string, claims: Record<string, unknown> = {}) =>
  new SignJWT({ iss: url, aud: 'bridge', sub: 's', preferred_username: 'ann', ...claims })
    .setProtectedHeader({ alg: 'RS256', kid })
    .setIssuedAt()
    .setExpirationTime('5m')
    .sign(privateKey)

it('a hint is refused for its own faults, and waits while the keys of its provider cannot be read', async () => {
  const token = await signed('up')
  for (const [status, body] of [
    [502, keys],
    [200, '<html>'],
    [200, '{}'],
  ] as const) {
    reply = { status, body }
    await expect(read(token)).rejects.toThrow()
  }
  reply = { status: 200, body: keys }
  expect(await read(token)).toEqual({ sub: 's', name: 'ann' })
  for (const forged of [`${token.slice(0, -9)}AAAAAAAAA`, await signed('another'), 'no token', ''])
    expect(await read(forged)).toBe('invalid')
})

it('a hint names a person by an e-mail address only if the provider calls it verified, or the settings accept others', async () => {
  reply = { status: 200, body: keys }
  const ann = { sub: 's', name: 'ann@example.org' }
  for (const [mark, answer] of [
    [true, ann],
    ['true', ann],
    [false, 'not-verified'],
    ['false', 'not-verified'],
    [undefined, 'not-verified'],
    [1, 'not-verified'],
  ] as const) {
    const token = await signed('up', { email: ann.name, email_verified: mark })
    expect([mark, await read(token, { name: 'email' })]).toEqual([mark, answer])
    expect(await read(token, { name: 'email', acceptUnverified: true })).toEqual(ann)
    expect(await read(token)).toEqual({ sub: 's', name: 'ann' })
  }
})
