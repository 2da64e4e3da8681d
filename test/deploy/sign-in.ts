import { expect } from 'vitest'
import { client, newPerson } from '../harness/load.js'

/** Enrolls a person at a service, and signs the person in by typing and by code. */
export async function signsIn(core: string, apikey: string): Promise<void> {
  const ask = client(core, apikey)
  const person = newPerson()
  await person.enroll(ask)
  const { session } = await ask('bootstrap', 'GET', `/users/${person.userRef}`)
  const call = (method: string, path: string, body: unknown) =>
    ask(path, method, `/users/${person.userRef}/${path}`, { session, body })
  expect((await call('POST', 'verify', person.next())).json.authentication.recommendedAction).toBe('auth')
  expect((await call('PUT', 'security-code', { securityCode: '738291' })).status).toBe(200)
  ask.end()
}
