import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { enroll, verifyOf } from '../../harness/enrolled.js'
import { startService } from '../../harness/service.js'
import { DEVICE, succeed } from '../../harness/sign-ins.js'
import { freshDatabase } from '../../servers/database.js'
import { mmdb } from '../../storage/mmdb.js'

const place = (iso_code: string, name: string, latitude: number, longitude: number) => ({
  country: { iso_code },
  city: { names: { en: name } },
  location: { latitude: { double: latitude }, longitude: { double: longitude }, accuracy_radius: 20 },
})
const folder = mkdtempSync(join(tmpdir(), 'keystride-travel-'))
const file = join(folder, 'places.mmdb')
writeFileSync(
  file,
  mmdb('City', {
    '203.0.113.0/24': place('FR', 'Paris', 48.8566, 2.3522),
    '198.51.100.0/24': place('AU', 'Sydney', -33.8688, 151.2093),
  }),
)
const service = await startService((await freshDatabase()).url, { more: { GEOIP_DB: file } })
afterAll(async () => {
  await service.close()
  rmSync(folder, { recursive: true })
})

describe('an impossible travel', () => {
  it('is blocked for any typing, is explained, and is on the map', async () => {
    const ann = await enroll(service, 'ann')
    await succeed(service, ann, 1)
    const { json } = await verifyOf(service, 'ann', { ...(ann.fresh() as object), d: DEVICE, ip: '198.51.100.9' })
    expect([json.authentication.recommendedAction, json.authentication.authenticated]).toEqual(['block', false])
    const { data } = (
      await service.dashboard('GET', `/authentication/${json.authentication.id}/impossible-travel/signals`)
    ).json
    expect(data.map((one: { signal: string; computedOutcome: null }) => [one.signal, one.computedOutcome])).toEqual([
      ['distance', null],
      ['time', null],
      ['speed', null],
    ])
    expect(data[0].value).toBeGreaterThan(16_000)
    const points = (await service.dashboard('GET', '/aggregations/geolocation')).json.data
    expect(points).toContainEqual(
      expect.objectContaining({ latitude: -33.9, longitude: 151.2, country: 'AU', city: 'Sydney', n: 1, blocked: 1 }),
    )
    expect((await service.dashboard('GET', `/authentications/${json.authentication.id}`)).json.data).toMatchObject({
      impossible_travel: true,
      ip: '198.51.100.9',
    })
  })

  it('is not caused by a failed attempt from afar before the next sign-in', async () => {
    const bob = await enroll(service, 'bob')
    await succeed(service, bob, 1)
    await verifyOf(service, 'bob', { ...(bob.fresh() as object), ip: '198.51.100.9' })
    const [id] = (await succeed(service, bob, 1)).slice(-1)
    expect((await service.dashboard('GET', `/authentications/${id}`)).json.data.impossible_travel).toBe(false)
  })
})
