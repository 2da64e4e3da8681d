import { spawnSync } from 'node:child_process'
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { configTable, readConfig } from '../../src/process/config.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
const read = (file: string) => readFileSync(join(root, file), 'utf8')
const table = configTable()

interface Source {
  requirePlaces(rows: readonly { readonly name: string }[]): void
}
const { requirePlaces }: Source = await import(pathToFileURL(join(root, 'deploy/source/settings.mjs')).href)

const deploy = (...args: string[]) => {
  const { status, stderr } = spawnSync(process.execPath, [join(root, 'bin/deploy.mjs'), ...args], { encoding: 'utf8' })
  return { status, stderr }
}

describe('the files of deploy/', () => {
  it('are those that bin/deploy.mjs writes, whose check finds a file that differs, is missing or is not generated', () => {
    expect(deploy('--check')).toEqual({ status: 0, stderr: '' })
    const folder = mkdtempSync(join(tmpdir(), 'keystride-deploy-'))
    expect(deploy('--out', folder)).toEqual({ status: 0, stderr: '' })
    appendFileSync(join(folder, 'deploy/systemd/keystride.service'), '# changed by hand\n')
    rmSync(join(folder, '.env.example'))
    writeFileSync(join(folder, 'deploy/kubernetes/overlays/small/more.yaml'), '')
    const { status, stderr } = deploy('--check', '--out', folder)
    expect(status).toBe(1)
    for (const file of ['.env.example differs', 'small/more.yaml is not generated', 'keystride.service differs'])
      expect(stderr).toContain(file)
    rmSync(folder, { recursive: true })
  })

  it('need a row for each variable of the service, and no other', () => {
    expect(() => requirePlaces(table)).not.toThrow()
    expect(() => requirePlaces([...table, { name: 'NEW_ONE', fallback: '', meaning: '' }])).toThrow(
      /no row for NEW_ONE/,
    )
    expect(() => requirePlaces(table.slice(1))).toThrow(/row for PORT, which/)
  })

  it('have settings that the service accepts, also if every line is set', () => {
    const lines = read('deploy/systemd/keystride.env').matchAll(/^#?([A-Z_]+)=(.*)$/gm)
    const systemd = Object.fromEntries([...lines].map(([, variable = '', value = '']) => [variable, value]))
    const settings = read('deploy/kubernetes/overlays/small/settings.yaml').replaceAll(/^ {2}# ([A-Z_]+: )/gm, '  $1')
    const { data } = parse(settings)
    expect(Object.keys(data).length).toBeGreaterThan(15)
    const stores = {
      DATABASE_URL: 'postgres://localhost/keystride',
      ENCRYPTION_KEY: Buffer.alloc(32).toString('base64'),
    }
    for (const given of [systemd, data])
      expect(readConfig({ ...given, ...stores }).publicUrl).toBe('https://keystride.example.org')
  })
})
