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

type Deployment = 'systemd' | 'kubernetes'
interface Place {
  readonly kind: 'fixed' | 'setting' | 'secret' | 'absent'
  readonly reason?: string
}
interface Source {
  readonly PLACES: Readonly<Record<string, Readonly<Record<Deployment, Place>>>>
  requirePlaces(rows: readonly { readonly name: string }[]): void
}
const { PLACES, requirePlaces }: Source = await import(pathToFileURL(join(root, 'deploy/source/settings.mjs')).href)

const deploy = (...args: string[]) => {
  const { status, stderr } = spawnSync(process.execPath, [join(root, 'bin/deploy.mjs'), ...args], { encoding: 'utf8' })
  return { status, stderr }
}

/** Files in which the operator of each deployment finds the variables. */
const DEPLOYMENTS = {
  systemd: ['deploy/systemd/keystride.service', 'deploy/systemd/keystride.env'],
  small: ['settings', 'keystride'].map((name) => `deploy/kubernetes/overlays/small/${name}.yaml`),
  production: ['settings', 'keystride'].map((name) => `deploy/kubernetes/overlays/production/${name}.yaml`),
} as const

describe('the files of deploy/', () => {
  it('are those that bin/deploy.mjs writes', () => {
    expect(deploy('--check')).toEqual({ status: 0, stderr: '' })
  })

  it('fail the check if one differs, is missing or is not generated', () => {
    const folder = mkdtempSync(join(tmpdir(), 'keystride-deploy-'))
    expect(deploy('--out', folder)).toEqual({ status: 0, stderr: '' })
    expect(deploy('--check', '--out', folder)).toEqual({ status: 0, stderr: '' })
    appendFileSync(join(folder, 'deploy/systemd/keystride.service'), '# changed by hand\n')
    rmSync(join(folder, '.env.example'))
    writeFileSync(join(folder, 'deploy/kubernetes/overlays/small/more.yaml'), '')
    const { status, stderr } = deploy('--check', '--out', folder)
    expect(status).toBe(1)
    expect(stderr.split('\n').slice(0, 3).sort()).toEqual([
      '.env.example differs',
      'deploy/kubernetes/overlays/small/more.yaml is not generated',
      'deploy/systemd/keystride.service differs',
    ])
    rmSync(folder, { recursive: true })
  })

  it('need a row for each variable of the service, and no other', () => {
    expect(() => requirePlaces(table)).not.toThrow()
    expect(() => requirePlaces([...table, { name: 'NEW_ONE', fallback: '', meaning: '' }])).toThrow(
      /no row for NEW_ONE/,
    )
    expect(() => requirePlaces(table.slice(1))).toThrow(/row for PORT, which/)
  })

  it.each(Object.entries(DEPLOYMENTS))(
    'show each variable to the operator of %s, unless there is a reason',
    (name, files) => {
      const text = files.map(read).join('\n')
      const deployment = name === 'systemd' ? 'systemd' : 'kubernetes'
      for (const [variable, places] of Object.entries(PLACES)) {
        const { kind, reason } = places[deployment]
        const shown = new RegExp(`^ *(?:#? ?|- name: |Environment=)${variable}(?:[:=]|$)`, 'm').test(text)
        if (kind === 'absent') expect(reason?.length, variable).toBeGreaterThan(10)
        const isRole = variable === 'ROLES' && name === 'small'
        expect([variable, shown]).toEqual([variable, kind !== 'absent' && !isRole])
      }
    },
  )

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
