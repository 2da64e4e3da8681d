import { expect, it } from 'vitest'
import { keystrideWith } from '../harness/command.js'
import { startService } from '../harness/service.js'
import { freshDatabase } from '../servers/database.js'

it('keys of the command line have their scopes and their end', async () => {
  const service = await startService((await freshDatabase()).url)
  const keystride = (...command: string[]) => keystrideWith(service.env)('key', ...command)
  const issue = async (...options: string[]) =>
    (await keystride('issue', service.organizationId, ...options)).stdout.trim()
  const read = await issue('--scopes', 'dashboard:read')
  const hour = await issue('--label', 'an hour', '--expires', '1h')
  const statuses = async (apikey: string) => [
    (await service.dashboard('GET', '/policies', { apikey })).status,
    (await service.dashboard('POST', '/notifications/read', { apikey, body: { all: true } })).status,
  ]
  expect([await statuses(read), await statuses(hour)]).toEqual([
    [200, 403],
    [200, 200],
  ])
  expect((await keystride('list', service.organizationId)).stdout).toMatch(/an hour .*live/)
  await service.close()
})
