import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { startProcess } from './harness/service-process.js'

const root = fileURLToPath(new URL('..', import.meta.url))
const readme = readFileSync(join(root, 'README.md'), 'utf8')
const blocks = [...readme.matchAll(/```sh walk\n([\s\S]*?)```/g)].map(([, block = '']) => block)

it('the walk of the README through a sign-in works as printed, from the bootstrap to the deletion', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'keystride-readme-'))
  const service = await startProcess({ KEYSTRIDE_DATA: folder })
  onTestFinished(async () => {
    await service.stop()
    rmSync(folder, { recursive: true, force: true })
  })
  const script = blocks
    .join('\necho "=== next"\n')
    .replaceAll('.keystride/demo.json', join(folder, 'demo.json'))
    .replaceAll('http://localhost:8080/core', service.core)
    .replaceAll('npx keystride', `node ${join(root, 'bin/keystride.mjs')}`)
  const output = execFileSync('bash', ['-euo', 'pipefail', '-c', script], { cwd: root, encoding: 'utf8' })
  const answers = output.split('=== next').map((part) =>
    part
      .trim()
      .split(/(?<=\})(?=\{"timestamp)/)
      .filter((text) => text !== '')
      .map((text) => JSON.parse(text)),
  )
  const [, created, enrolled, verified, stranger, deleted] = answers
  expect(created?.[0]).toMatchObject({ success: true, created: true, userRef: 'ann@example.com' })
  expect(enrolled?.map(({ biometricStatus }) => biometricStatus)).toEqual([...Array(4).fill('in-progress'), 'ok'])
  expect(verified?.[0].authentication).toMatchObject({ authenticated: true, recommendedAction: 'auth' })
  expect(stranger?.[0].authentication.authenticated).toBe(false)
  expect(deleted?.[0]).toMatchObject({ success: true, user_id: 'ann@example.com', n_patterns_deleted: 5 })

  // The service prints a first call when it starts.
  const line = service.output().match(/curl -i .*$/m)?.[0] ?? 'false'
  const first = execFileSync('bash', ['-c', line.replace('curl -i', 'curl -si')], { encoding: 'utf8' })
  expect(first).toMatch(/^HTTP\/1\.1 404[\s\S]*suggestedWords/)
})
