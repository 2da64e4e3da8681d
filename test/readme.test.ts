import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { configTable } from '../src/process/config.js'
import { type ServiceProcess, startProcess } from './faults/service-process.js'

const root = fileURLToPath(new URL('..', import.meta.url))
const readme = readFileSync(join(root, 'README.md'), 'utf8')
const blocks = [...readme.matchAll(/```sh walk\n([\s\S]*?)```/g)].map((match) => match[1] ?? '')

describe('the walk through a sign-in', () => {
  const folder = mkdtempSync(join(tmpdir(), 'keystride-readme-'))
  let service: ServiceProcess
  beforeAll(async () => {
    service = await startProcess({ KEYSTRIDE_DATA: folder })
  })
  afterAll(async () => {
    await service.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  it('works as it is printed, from bootstrap to deletion', () => {
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
    const [, , created, enrolled, verified, stranger, deleted] = answers
    expect(created?.[0]).toMatchObject({ success: true, created: true, userRef: 'ann@example.com' })
    expect(enrolled?.map(({ biometricStatus }) => biometricStatus)).toEqual([...Array(4).fill('in-progress'), 'ok'])
    expect(verified?.[0].authentication).toMatchObject({ authenticated: true, recommendedAction: 'auth' })
    expect(stranger?.[0].authentication.authenticated).toBe(false)
    expect(deleted?.[0]).toMatchObject({ success: true, user_id: 'ann@example.com', n_patterns_deleted: 5 })
  })

  it('is followed by a curl line in the greeting that works', () => {
    const line = service.output().match(/curl -i .*$/m)?.[0] ?? 'false'
    const output = execFileSync('bash', ['-c', line.replace('curl -i', 'curl -si')], { encoding: 'utf8' })
    expect(output).toMatch(/^HTTP\/1\.1 404/)
    expect(output).toContain('suggestedWords')
  })
})

describe('the configuration table', () => {
  it('is the list that config.ts checks', () => {
    const rows = configTable().map(
      ({ name, fallback, meaning }) => `| \`${name}\` | ${fallback === '' ? '' : `\`${fallback}\``} | ${meaning} |`,
    )
    const wanted = ['| variable | default | meaning |', '|---|---|---|', ...rows].join('\n')
    expect(readme).toContain(`<!-- configuration -->\n${wanted}\n<!-- /configuration -->`)
  })
})

describe('every command of the README', () => {
  it('is one that package.json or the command line knows', () => {
    const scripts = Object.keys(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).scripts)
    const named = [...readme.matchAll(/npm run ([\w:]+)/g)].map((match) => match[1] ?? '')
    expect(named.filter((name) => !scripts.includes(name))).toEqual([])
    const help = execFileSync(process.execPath, [join(root, 'bin/keystride.mjs'), '--help'], { encoding: 'utf8' })
    const commands = [...readme.matchAll(/npx keystride ([a-z][\w-]*)/g)].map((match) => match[1] ?? '')
    expect(commands.length).toBeGreaterThan(5)
    expect(commands.filter((name) => !new RegExp(`^  ${name}\\b`, 'm').test(help))).toEqual([])
  })
})
