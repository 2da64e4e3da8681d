import { describe, expect, it } from 'vitest'
import { REFUSED_PER_DAY } from '../../src/domain/refused-patterns.js'
import { person, type TypedKey, wirePattern } from '../../src/typist/made-up-person.js'
import {
  type Enrolled,
  enroll,
  enrollOne,
  linkTo,
  sendBy,
  sincere,
  stranger,
  text,
  verifyOf,
} from '../harness/enrolled.js'
import { sharedService } from '../harness/service.js'
import { ownRows } from './own-rows.js'

const service = await sharedService()
const rows = ownRows(service)

describe('a typing pattern of a call that failed', () => {
  const verify = (userRef: string, session: string, body: unknown) => verifyOf(service, userRef, body, session)
  const enrolls = (userRef: string, session: string, body: unknown) =>
    service.call('POST', `/users/${userRef}/typing-patterns`, { session, body })
  const act = async (userRef: string, action: 'lock' | 'unlock') => {
    const { status } = await service.dashboard('POST', `/users/${userRef}/actions`, { body: { action } })
    expect(status).toBe(200)
  }
  const refused = (userRef: string) =>
    rows(
      (sql) => sql`
        select 1 from keystride.refused_pattern r join keystride.member m on m.id = r.member_id
        where m.member_ref = ${userRef}`,
    )

  let texts = 2000
  /** A new typing of this person, unchanged and with one longer pause. */
  function typing({ who }: Enrolled) {
    const seed = texts++
    const keys = who.keys(text(seed), seed)
    const at = keys.length >> 1
    const later = ([key, press, release]: TypedKey, i: number): TypedKey =>
      i < at ? [key, press, release] : [key, press + 300, release + 300]
    return { exact: wirePattern(keys), edited: wirePattern(keys.map(later)) }
  }

  interface Way {
    readonly name: string
    /** References before the call. */
    readonly enrolled?: number
    /** May return the key of a profile link. */
    readonly prepares?: (who: Enrolled) => Promise<string | undefined>
    /** Sends the pattern in a call that fails. */
    readonly fails: (who: Enrolled, body: unknown, key: string) => Promise<void>
    /** Makes sign-ins possible again. */
    readonly mends?: (who: Enrolled) => Promise<unknown>
  }
  const ways: Way[] = [
    {
      name: 'an attempt that a lock refused',
      async fails({ userRef }, body) {
        await act(userRef, 'lock')
        const { json } = await verifyOf(service, userRef, body)
        expect([json.action, json.refusedBecause]).toEqual(['refused', 'typing-locked'])
      },
      mends: ({ userRef }) => act(userRef, 'unlock'),
    },
    {
      name: 'an attempt in a session that is used up',
      async prepares({ userRef, session }) {
        for (let i = 0; i < 3; i++) expect((await verify(userRef, session, stranger())).json.action).toBe('rejected')
        return undefined
      },
      async fails({ userRef, session }, body) {
        const { json } = await verify(userRef, session, body)
        expect(json.refusedBecause).toBe('session-used-up')
      },
      mends: ({ userRef }) => act(userRef, 'unlock'),
    },
    {
      name: 'an attempt in the session of another user',
      async fails({ userRef }, body) {
        const { session } = await service.bootstrap('another')
        expect((await verify(userRef, session, body)).status).toBe(400)
      },
    },
    {
      name: 'an enrollment in a session that has ended',
      async fails({ userRef }, body) {
        expect((await enrolls(userRef, 'ended', body)).status).toBe(400)
      },
    },
    {
      name: 'an attempt that answered enroll',
      enrolled: 3,
      async fails({ userRef, session }, body) {
        expect((await verify(userRef, session, body)).json.action).toBe('enroll')
      },
      async mends(who) {
        for (let n = 3; n < 5; n++) expect((await enrollOne(service, who)).status).toBe(200)
      },
    },
    {
      name: 'an enrollment of a complete profile (409)',
      async fails({ userRef, session }, body) {
        expect((await enrolls(userRef, session, body)).status).toBe(409)
      },
    },
    {
      name: 'an enrollment that names another member',
      async fails({ userRef, session }, body) {
        const { status } = await enrolls(userRef, session, { ...(body as object), member_ref: 'another' })
        expect(status).toBe(400)
      },
    },
    {
      name: 'a profile link that has nothing left to type',
      enrolled: 4,
      async prepares(who) {
        const key = await linkTo(service, 'create', who.userRef)
        expect((await enrollOne(service, who)).status).toBe(200)
        return key
      },
      async fails(_, body, key) {
        expect((await sendBy(service, key, body)).status).toBe(409)
      },
    },
    {
      name: 'a legacy verify that a lock refused',
      async fails({ userRef }, body) {
        await act(userRef, 'lock')
        const { json } = await service.call('POST', `/user-verify/${userRef}`, { body })
        expect(json.refusedBecause).toBe('typing-locked')
      },
      mends: ({ userRef }) => act(userRef, 'unlock'),
    },
    {
      name: 'a legacy verify in a session that has ended',
      async fails({ userRef }, body) {
        expect((await service.call('POST', `/user-verify/${userRef}`, { session: 'ended', body })).status).toBe(400)
      },
    },
    {
      name: 'a legacy LINK_PATTERN of a complete profile (409)',
      async fails({ userRef, session }, pattern) {
        const body = { action: 'LINK_PATTERN', pattern }
        expect((await service.call('POST', `/user-action/${userRef}`, { session, body })).status).toBe(409)
      },
    },
  ]

  describe.each(ways)('$name', ({ name, enrolled = 5, prepares, fails, mends }) => {
    it('is a replay in a later sign-in, exact or with one pause changed', async () => {
      const who = await enroll(service, `u-${ways.findIndex((way) => way.name === name)}`, enrolled)
      const { userRef } = who
      const key = (await prepares?.(who)) ?? ''
      // The process knows the person and their patterns.
      if (enrolled === 5 && prepares === undefined) await verifyOf(service, userRef, who.fresh())
      const [one, two, sincere] = [typing(who), typing(who), typing(who)]
      await fails(who, one.exact, key)
      await fails(who, two.exact, key)
      expect(await refused(userRef)).toHaveLength(2)
      await mends?.(who)
      const { session } = await service.bootstrap(userRef)
      const judged = async (body: unknown) => {
        const { json } = await verify(userRef, session, body)
        return [json.action, json.reason]
      }
      expect(await judged(one.edited)).toEqual(['rejected', 'fraud-detected'])
      expect(await judged(two.exact)).toEqual(['rejected', 'fraud-detected'])
      expect((await judged(sincere.exact))[1]).toBe('')
    })
  })

  it('is not remembered twice, nor beyond a number a day, and pushes out nothing that sign-ins brought', async () => {
    const who = await enroll(service, 'flooded')
    const tested = Array.from({ length: 3 }, () => typing(who))
    for (const { exact } of tested) {
      const { json } = await verifyOf(service, 'flooded', exact)
      expect(json.authentication.id).not.toBe('')
    }
    await act('flooded', 'lock')
    const { session } = await service.bootstrap('flooded')
    const first = typing(who)
    for (let i = 0; i < 3; i++) await verify('flooded', session, first.exact)
    expect(await refused('flooded')).toHaveLength(1)
    const flood = Array.from({ length: 3 * REFUSED_PER_DAY }, () => verify('flooded', session, stranger()))
    await Promise.all(flood)
    expect(await refused('flooded')).toHaveLength(REFUSED_PER_DAY)
    for (const { edited } of tested) {
      await act('flooded', 'unlock')
      const { json } = await verifyOf(service, 'flooded', edited)
      expect(json.reason).toBe('fraud-detected')
    }
    const sincere = await verifyOf(service, 'flooded', typing(who).exact)
    expect(sincere.json.reason).toBe('')
    const late = await verifyOf(service, 'flooded', first.exact)
    expect(late.json.reason).toBe('fraud-detected')
  })

  it('is not remembered if the call was limited (429), if it is no valid pattern, or without a user', async () => {
    const who = await enroll(service, 'limited', 1)
    const pattern = typing(who).exact
    for (let i = 0; i < 20; i++) await enrolls('limited', who.session, { no: 'pattern' })
    expect((await enrolls('limited', who.session, pattern)).status).toBe(429)
    expect((await enrolls('limited', 'ended', pattern)).status).toBe(400)
    expect(await refused('limited')).toEqual([])
    const { session } = await service.bootstrap('nobody')
    expect((await enrolls('nobody', session, pattern)).status).toBe(404)
    await rows((sql) => sql`update keystride.member set patterns_closed_until = null`)
    expect((await enrolls('limited', who.session, pattern)).json).toMatchObject({ created: true })
  })

  it('is a replay on a shared account too, if only the session names the member', async () => {
    await service.call('POST', '/users/desk', { body: { type: 'generic', member_ref: 'ann' } })
    const session = (await service.call('GET', '/users/desk?member_ref=ann')).headers.get('x-service-session') ?? ''
    const ann = person(9100)
    let n = 0
    const fresh = () => ann.types(text(++n), n)
    for (let stored = 0; stored < 5; stored++)
      expect((await sincere((body) => enrolls('desk', session, body), fresh)).status).toBe(200)
    const captured = ann.types(text(2999), 2999)
    expect((await enrolls('desk', session, captured)).status).toBe(409)
    const { json } = await verify('desk', session, captured)
    expect([json.action, json.reason]).toEqual(['rejected', 'fraud-detected'])
  })

  it('goes with the account', async () => {
    const who = await enroll(service, 'leaves')
    expect((await enrollOne(service, who)).status).toBe(409)
    expect(await refused('leaves')).toHaveLength(1)
    await service.call('DELETE', '/users/leaves')
    const left = await rows(
      (sql) => sql`
        select 1 from keystride.refused_pattern r where not exists (select from keystride.member m where m.id = r.member_id)`,
    )
    expect(left).toEqual([])
  })
})
