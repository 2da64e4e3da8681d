import { describe, expect, it } from 'vitest'
import { BIOMETRIC_STATUSES, biometricStatus, DEFAULT_TARGETS } from '../../../../src/domain/biometric-status.js'
import { EVERYBODY } from '../../../../src/storage/directory.js'
import { postgresAccounts } from '../../../../src/storage/postgres/person/account.js'
import { postgresDirectory } from '../../../../src/storage/postgres/person/directory.js'
import { NOW, organization, person } from '../../../harness/fixtures.js'
import { sharedDatabase } from '../../../servers/database.js'

const { database } = await sharedDatabase()

describe('the directory', () => {
  it('filters by the status that the domain gives each profile', async () => {
    const organizationId = await organization(database)
    let made = 0
    const days = (n: number) => new Date(NOW - n * 86_400_000)
    for (const n of [0, 3, 5, 10])
      for (const [everReset, completedAt, typedAt] of [
        [false, null, null],
        [true, days(400), null],
        [false, days(400), days(10)],
        [false, days(500), days(366)],
      ] as const)
        for (const format of [1, 99])
          for (const successor of [null, 'enrollment', 'a pending action']) {
            const one = await person(database, organizationId, `user-${made++}`)
            await database.asSystem(
              (sql) => sql`
                update keystride.member set n_visible = ${n}, ever_reset = ${everReset}, completed_at = ${completedAt},
                  typed_at = ${typedAt}, sample_format = ${format}, successor_owner = ${successor},
                  successor_format = ${successor === null ? null : 1}, successor_visible = ${successor === null ? 0 : 1}
                where organization_id = ${organizationId} and id = ${one.memberId}`,
            )
          }
    const directory = postgresDirectory(database)
    const order = { sort: 'created', descending: false, skip: 0, limit: 500 } as const
    const all = await directory.page(organizationId, EVERYBODY, order)
    expect(all.length).toBe(96)
    for (const status of BIOMETRIC_STATUSES) {
      const filter = { ...EVERYBODY, profile: { status, targets: DEFAULT_TARGETS, now: NOW } }
      const wanted = all.filter(({ members }) =>
        members.some((member) => biometricStatus(member, DEFAULT_TARGETS, NOW) === status),
      )
      const found = await directory.page(organizationId, filter, order)
      expect([status, found.map(({ account }) => account.id)]).toEqual([
        status,
        wanted.map(({ account }) => account.id),
      ])
      expect(found.length).toBeGreaterThan(0)
      expect(await directory.count(organizationId, filter)).toBe(found.length)
    }
    expect(await postgresAccounts(database).roster(organizationId, all[0]?.account.userRef ?? '')).toEqual(all[0])
  })
})
