import { expect, it } from 'vitest'
import { enroll, verifyOf } from '../harness/enrolled.js'
import { sharedService } from '../harness/service.js'
import { ownRows } from './own-rows.js'

const service = await sharedService()

it('each verify over HTTP keeps the comparison set of its member up to date', async () => {
  const ada = await enroll(service, 'set-of-ada')
  for (let n = 0; n < 3; n++) {
    expect((await verifyOf(service, ada.userRef, ada.fresh())).status).toBe(200)
    const [found] = await ownRows(service)(
      (sql) => sql<{ behind: string; tail: number }[]>`
        select m.attempts_version - s.attempts_version as behind, octet_length(s.tail) as tail
        from keystride.member m
          left join keystride.comparison_set s on s.organization_id = m.organization_id and s.member_id = m.id
            and s.generation = m.generation and s.profile_version = m.profile_version
        where m.member_ref = ${ada.userRef}`,
    )
    expect([Number(found?.behind ?? -1), Number(found?.tail) > 0]).toEqual([0, n > 0])
  }
})
