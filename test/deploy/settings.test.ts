import { spawnSync } from 'node:child_process'
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { readConfig } from '../../src/process/config.js'

const root = fileURLToPath(new URL('../..', import.meta.url))

const deploy = (...args: string[]) => {
  const { status, stderr } = spawnSync(process.execPath, [join(root, 'bin/deploy.mjs'), ...args], { encoding: 'utf8' })
  return { status, stderr }
}

describe('the files of settings', () => {
  it('are those that bin/deploy.mjs writes, whose check finds a file that differs or is missing', () => {
    expect(deploy('--check')).toEqual({ status: 0, stderr: '' })
    const folder = mkdtempSync(join(tmpdir(), 'keystride-deploy-'))
    expect(deploy('--out', folder)).toEqual({ status: 0, stderr: '' })
    appendFileSync(join(folder, 'deploy/systemd/keystride.env'), '# changed by hand\n')
    rmSync(join(folder, '.env.example'))
    const { status, stderr } = deploy('--check', '--out', folder)
    expect(status).toBe(1)
    for (const file of ['.env.example differs', 'keystride.env differs']) expect(stderr).toContain(file)
    rmSync(folder, { recursive: true })
  })

  it('have settings that the service accepts, also if every line is set', () => {
    const lines = readFileSync(join(root, 'deploy/systemd/keystride.env'), 'utf8').matchAll(/^#?([A-Z_]+)=(.*)$/gm)
    const given = Object.fromEntries([...lines].map(([, variable = '', value = '']) => [variable, value]))
    expect(Object.keys(given).length).toBeGreaterThan(15)
    const stores = {
      DATABASE_URL: 'postgres://localhost/keystride',
      ENCRYPTION_KEY: Buffer.alloc(32).toString('base64'),
    }
    expect(readConfig({ ...given, ...stores }).publicUrl).toBe('https://keystride.example.org')
  })
})
