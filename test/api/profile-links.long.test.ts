import { expect, it } from 'vitest'
import { linkTo, sendBy } from '../harness/enrolled.js'
import { until } from '../harness/patience.js'
import { startService } from '../harness/service.js'
import { freshDatabase } from '../servers/database.js'

it('a profile link answers 503 while the database is unreachable, also on its page', async () => {
  const fresh = await freshDatabase()
  const service = await startService(fresh.url, { more: { LOG_LEVEL: 'silent', STORE_PATIENCE: '1' } })
  const key = await linkTo(service, 'create', 'away')
  await fresh.drop()
  const open = () => fetch(`${service.auth}/b/${key}`)
  await until(async () => (await open()).status === 503)
  const page = await open()
  expect([page.headers.get('content-type'), page.headers.get('retry-after')]).toEqual([
    expect.stringMatching(/text\/html/),
    '2',
  ])
  const type = () => sendBy(service, key, {})
  const step = await type()
  expect([step.status, step.json.reason, step.headers.get('retry-after')]).toEqual([503, 'api-failed', '2'])
  const message = 'the service is degraded: PostgreSQL out of reach; try again shortly'
  await until(async () => (await type()).json.message === message)
  await service.close()
})
