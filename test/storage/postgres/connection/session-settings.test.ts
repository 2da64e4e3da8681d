import { describe, expect, it } from 'vitest'
import { walkClient } from '../../../../src/cli/walk-client.js'
import { walkSteps } from '../../../../src/cli/walk-steps.js'
import { postgresSessions } from '../../../../src/storage/postgres/attempt/session.js'
import { connectPostgres, requireSettings } from '../../../../src/storage/postgres/connection/client.js'
import { wrongSettings } from '../../../../src/storage/postgres/connection/session-settings.js'
import { withClient } from '../../../../src/storage/postgres/connection/with-client.js'
import { postgresRetention } from '../../../../src/storage/postgres/insight/retention.js'
import { migrate } from '../../../../src/storage/postgres/schema/migrate.js'
import { postgresSsoArtifacts } from '../../../../src/storage/postgres/sso/sso-artifact.js'
import { organization } from '../../../harness/fixtures.js'
import { startService } from '../../../harness/service.js'
import { freshDatabase, HOSTILE_SETTINGS, ownDatabase } from '../../../servers/database.js'
import { comparesStores } from '../../../simulator/stores-compared.js'
import { sessionContract } from '../../session.contract.js'
import { ssoArtifactContract } from '../../sso-artifact.contract.js'

const NAME = "select current_setting('application_name') as name"

describe('on a database with other settings', async () => {
  const { database, url: own } = await ownDatabase(4, { settings: HOSTILE_SETTINGS })
  const organizationId = await organization(database)

  sessionContract(
    () => postgresSessions(database),
    () => organizationId,
  )
  ssoArtifactContract(
    () => postgresSsoArtifacts(database),
    () => organizationId,
  )
  comparesStores(2, async () => own)

  it('the whole service keeps its promises', async () => {
    const service = await startService(own)
    const broken: string[] = []
    for (const { promise, walk } of walkSteps(walkClient(service.core.replace('/core', ''), service.apikey), 1))
      await walk().catch((error: Error) => broken.push(`${promise}: ${error.message}`))
    await service.close()
    expect(broken).toEqual([])
  })

  it('every connection has the settings of the service, also if its connection string asks for others', async () => {
    const url = `${own}?TimeZone=Asia/Tokyo&bytea_output=escape&datestyle=SQL&application_name=other`
    const asking = connectPostgres({ url, max: 2, patience: 10 })
    await requireSettings(asking)
    const name = await asking.call((sql) => sql.unsafe(NAME))
    await asking.close()
    const wrong = (one: string) =>
      withClient(one, (client) => wrongSettings(async (statement) => (await client.query(statement)).rows))
    expect([await wrong(url), await wrong(own)]).toEqual([[], []])
    const apart = await withClient(url, (client) => client.query(NAME))
    expect([...name, ...apart.rows]).toEqual([{ name: 'keystride' }, { name: 'keystride maintenance' }])
  })

  it('months past their retention are dropped', async () => {
    const retention = postgresRetention(database)
    expect(await retention.makeAhead(1, Date.UTC(2020, 0, 15))).toBe(2)
    expect(await retention.dropOld(30, Date.UTC(2020, 3, 1))).toBe(2)
  })

  it('bytes in another format are an error that names the setting', async () => {
    const read = database.asSystem(async (sql) => {
      await sql`select set_config('bytea_output', 'escape', true)`
      return sql`select wrapped_key from keystride.organization`
    })
    await expect(read).rejects.toThrow('bytea_output must be hex')
    await requireSettings(database)
  })

  it('an empty one is migrated, once', async () => {
    const empty = await freshDatabase({ empty: true, settings: HOSTILE_SETTINGS })
    await migrate(empty.url)
    expect(await migrate(empty.url)).toEqual([])
    await empty.drop()
  })
})
