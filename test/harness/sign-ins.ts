import { type Enrolled, enroll, stranger } from './enrolled.js'
import type { TestService } from './service.js'

export const DEVICE = {
  ua: 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
  sH: 1080,
  sW: 1920,
  dpr: 1,
  tz: 'Europe/Paris',
  navLanguage: 'fr',
  cpuThreads: 8,
  gpu: 'Mesa',
  fonts: ['Arial', 'DejaVu Sans'],
}

/** Signs in with the person's own typing until `times` attempts have succeeded. Returns the ids of all attempts, oldest first. */
export async function succeed(service: TestService, who: Enrolled, times: number, more: object = { d: DEVICE }) {
  const ids: string[] = []
  for (let succeeded = 0, tried = 0; succeeded < times; tried++) {
    if (tried > 6 * times + 6) throw new Error(`${who.userRef} was not authenticated`)
    const { session } = await service.bootstrap(who.userRef)
    const body = { ...(who.fresh() as object), ...more }
    const { json } = await service.call('POST', `/users/${who.userRef}/verify`, { session, body })
    if (json.authentication.id !== '') ids.push(json.authentication.id)
    if (json.authentication.authenticated) succeeded++
  }
  return ids
}

/** Enrolls a person, who then signs in `times` times; a stranger then makes an attempt in the person's name. */
export async function visited(service: TestService, userRef: string, times = 1) {
  const who = await enroll(service, userRef)
  const ids = await succeed(service, who, times)
  const { session } = await service.bootstrap(userRef)
  const { json } = await service.call('POST', `/users/${userRef}/verify`, { session, body: stranger() })
  return { who, ids, strange: json.authentication.id as string, nAttempts: ids.length + 1 }
}
