#!/usr/bin/env node
// Writes the files of deploy/systemd, deploy/kubernetes/overlays and .env.example from deploy/source, deploy/kubernetes/base and the
// configuration table. `--check` writes nothing and names each file that differs. `--out` is the folder, by default the repository.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { exampleFile } from '../deploy/source/compose.mjs'
import { requirePlaces } from '../deploy/source/settings.mjs'
import { migrateUnit, serviceUnit, settingsFile } from '../deploy/source/systemd.mjs'
import { prepare } from './prepare.mjs'

prepare()
const { configTable } = await import('../build/src/process/config.js')
const { overlays } = await import('../deploy/source/overlays.mjs')

const root = fileURLToPath(new URL('..', import.meta.url))
const { values } = parseArgs({ options: { check: { type: 'boolean' }, out: { type: 'string', default: root } } })
const BASE = 'deploy/kubernetes/base'

/** Every generated file with its text. */
function rendered() {
  const table = configTable()
  requirePlaces(table)
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const base = readdirSync(join(root, BASE)).map((name) => [name, readFileSync(join(root, BASE, name), 'utf8')])
  const sets = Object.entries(overlays({ image: `keystride:${version}`, version, table })).flatMap(([overlay, own]) =>
    [...base, ...Object.entries(own)].map(([name, text]) => [`deploy/kubernetes/overlays/${overlay}/${name}`, text]),
  )
  return [
    ['deploy/systemd/keystride.service', serviceUnit()],
    ['deploy/systemd/keystride-migrate.service', migrateUnit()],
    ['deploy/systemd/keystride.env', settingsFile(table)],
    ...sets,
    ['.env.example', exampleFile(table)],
  ]
}

/** Files in the folders of generated files that are not generated. */
function foreign(files) {
  const names = new Set(files.map(([name]) => name))
  return [...new Set(files.map(([name]) => dirname(name)))]
    .filter((folder) => folder !== '.' && existsSync(join(values.out, folder)))
    .flatMap((folder) => readdirSync(join(values.out, folder)).map((name) => join(folder, name)))
    .filter((name) => !names.has(name))
}

const files = rendered()
if (values.check) {
  const textAt = (name) => (existsSync(join(values.out, name)) ? readFileSync(join(values.out, name), 'utf8') : null)
  const differing = files.filter(([name, text]) => textAt(name) !== text).map(([name]) => `${name} differs`)
  const more = foreign(files).map((name) => `${name} is not generated`)
  for (const line of [...differing, ...more]) process.stderr.write(`${line}\n`)
  if (differing.length + more.length > 0) {
    process.stderr.write('run: node bin/deploy.mjs\n')
    process.exitCode = 1
  }
} else {
  for (const [name, text] of files) {
    mkdirSync(dirname(join(values.out, name)), { recursive: true })
    writeFileSync(join(values.out, name), text)
  }
}
