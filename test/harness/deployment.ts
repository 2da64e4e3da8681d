import { readConfig } from '../../src/process/config.js'
import { jsonLog } from '../../src/process/log.js'
import { administration, openStores } from '../../src/wiring/open-stores.js'

/** A migrated database with one organization and one API key: the state before the first start. */
export async function deployment(
  databaseUrl: string,
): Promise<{ env: Record<string, string>; apikey: string; organizationId: string }> {
  const env = { DATABASE_URL: databaseUrl, ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64') }
  const stores = await openStores(readConfig({ STORE_PATIENCE: '10', ...env }), jsonLog('silent'), {
    redis: false,
    schema: 'migrate',
  })
  const flows = administration(stores)
  const { id } = await flows.create('Faults')
  const { apikey } = await flows.issueKey(id, 'test')
  await stores.close()
  return { env, apikey, organizationId: id }
}
