import { expect, it } from 'vitest'
import { ask, request } from '../harness/raw.js'
import { start, stop } from './table.js'

it('logs a probe that fails once a minute, and each refusal of other endpoints', async () => {
  const failing = { method: 'get', handle: () => ({ status: 503, contentType: 'text/plain', body: 'no' }) } as const
  const running = await start({
    plain: [
      { ...failing, path: '/readyz', probe: true },
      { ...failing, path: '/page' },
    ],
  })
  for (const path of ['/readyz', '/readyz', '/page', '/page']) await ask(running.server.port, request(`GET ${path}`))
  const refused = running.lines.map((line) => JSON.parse(line)).filter(({ message }) => message === 'refused')
  await stop(running)
  expect(refused.map(({ route }) => route)).toEqual(['/readyz', '/page', '/page'])
})
