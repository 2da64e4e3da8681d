import { describe, expect, it } from 'vitest'
import { type Enrolled, enroll, enrollOne, linkTo, typeBy } from '../harness/enrolled.js'
import { sharedService } from '../harness/service.js'
import { ownRows } from './own-rows.js'

const service = await sharedService()
const rows = ownRows(service)

const type = (key: string, { fresh }: Enrolled) => typeBy(service, key, fresh)
const stored = async (table: string, userRef: string) => {
  const found = await rows(
    (sql) => sql`
      select 1 from keystride.${sql(table)} t join keystride.member m on m.id = t.member_id
      where m.member_ref = ${userRef}`,
  )
  return found.length
}

/** A link of each kind whose person has a complete profile by other means. */
const LINKS = {
  async create(userRef: string) {
    const key = await linkTo(service, 'create', userRef)
    return { key, who: await enroll(service, userRef) }
  },
  async complete(userRef: string) {
    const who = await enroll(service, userRef)
    return { key: await linkTo(service, 'complete', userRef), who }
  },
  async reset(userRef: string) {
    const who = await enroll(service, userRef)
    const key = await linkTo(service, 'reset', userRef)
    for (let n = 0; n < 2; n++) expect((await type(key, who)).status).toBe(200)
    return { key, who }
  },
}

const WAYS: Record<string, (userRef: string, who: Enrolled) => Promise<void>> = {
  async 'a reset by the core API'(userRef) {
    expect((await service.call('DELETE', `/users/${userRef}/typing-patterns`)).status).toBe(200)
  },
  async 'a reset by an administrator'(userRef) {
    const body = { action: 'reset-profile' }
    expect((await service.dashboard('POST', `/users/${userRef}/actions`, { body })).status).toBe(200)
  },
  async 'a queued reset'(userRef, who) {
    await service.call('POST', `/users/${userRef}/pending-action`, { body: { action: 'RESET_BIOMETRIC_PROFILE' } })
    const { session } = await service.bootstrap(userRef)
    expect((await enrollOne(service, who, session)).json.biometricStatus).toBe('in-progress')
  },
  async 'the removal of every reference'(userRef) {
    const found = await rows(
      (sql) => sql<{ id: string }[]>`
        select r.id from keystride.reference_pattern r join keystride.member m on m.id = r.member_id
        where m.member_ref = ${userRef} and r.generation = m.generation`,
    )
    for (const { id } of found)
      expect((await service.call('DELETE', `/users/${userRef}/typing-patterns/${id}`)).status).toBe(200)
  },
  async 'a completed reset link'(userRef, who) {
    const key = await linkTo(service, 'reset', userRef)
    for (let completed = false; !completed; ) completed = (await type(key, who)).json.completed
  },
}

// Regression: a link from before a reset filled the profile with the typing of its holder.
describe.each(Object.keys(WAYS))('%s ends', (way) => {
  // A newer reset link ends the older one anyway.
  const kinds = Object.entries(LINKS).filter(([kind]) => way !== 'a completed reset link' || kind !== 'reset')
  it.each(kinds)('a %s link', async (kind, made) => {
    const userRef = `${kind}-${Object.keys(WAYS).indexOf(way)}`
    const { key, who } = await made(userRef)
    expect((await fetch(`${service.auth}/b/${key}`)).status).toBe(200)
    await WAYS[way]?.(userRef, who)
    const n = await stored('reference_pattern', userRef)
    expect((await fetch(`${service.auth}/b/${key}`)).status).toBe(404)
    const { status, json } = await type(key, who)
    expect([status, json.reason]).toEqual([404, 'invalid-data'])
    expect([await stored('reference_pattern', userRef), await stored('profile_link', userRef)]).toEqual([n, 0])
  })
})
