import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { dirname, join, normalize, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { DIVIDED, LAYERS, type Layer, MODULES } from './layers.js'

const root = dirname(dirname(fileURLToPath(import.meta.url)))

/** Files with exports for readers that import them by other means: the host, customers, and a bench that prints the text. */
const FOR_OTHERS = [
  'assembly/index.ts',
  'assembly/fitting.ts',
  'packages/recorder/src/recorder.ts',
  'packages/recorder/src/element.ts',
  'packages/agent/src/agent.ts',
  'packages/agent/src/result.ts',
  'packages/client/src/client.ts',
  'packages/client/src/sign-in-result.ts',
  'bench/accuracy/words.ts',
]
/** Only `SEES_BACK_ENDS` may import these. Other code uses the interfaces of `src/storage`. */
const BACK_ENDS = ['src/storage/postgres', 'src/storage/redis']
const SEES_BACK_ENDS = [
  'src/storage',
  'src/wiring/open-stores.ts',
  'src/wiring/open-database.ts',
  'src/wiring/move-organization.ts',
]
/** Layers without I/O. */
const PURE = ['src/base', 'src/domain']

const sources = (folder: string): string[] =>
  readdirSync(join(root, folder), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))

const importsOf = (file: string): string[] =>
  ts.preProcessFile(readFileSync(join(root, file), 'utf8'), true, true).importedFiles.map(({ fileName }) => fileName)

const inside = (file: string, folder: string) => file === folder || file.startsWith(`${folder}/`)
const layerOf = (file: string): Layer | undefined => {
  const folder = Object.keys(LAYERS)
    .filter((candidate) => inside(file, candidate))
    .sort((a, b) => b.length - a.length)[0]
  return folder === undefined ? undefined : LAYERS[folder]
}
const packageOf = (specifier: string) =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')

/** Whether a file of one module may import from another module of the same layer; true for folders of different layers. */
function mayEnter(from: string, to: string): boolean {
  const oneLayer = DIVIDED.some((layer) => inside(from, layer) && inside(to, layer))
  return !oneLayer || from === to || (MODULES[from]?.includes(to) ?? false)
}

/** The files of each cycle of imports, each cycle once; [] if there is none. */
function cycles(files: readonly string[]): string[][] {
  const imports = new Map(files.map((file) => [file, targetsOf(file)]))
  const done = new Set<string>()
  const found: string[][] = []
  const visit = (file: string, path: readonly string[]): void => {
    const before = path.indexOf(file)
    if (before >= 0) found.push(path.slice(before))
    if (before >= 0 || done.has(file)) return
    for (const next of imports.get(file) ?? []) visit(next, [...path, file])
    done.add(file)
  }
  for (const file of files) visit(file, [])
  return found
}

/** Exports whose names no importing reader contains. */
function unusedExports(files: readonly string[], readers: readonly string[]): string[] {
  const texts = new Map(
    [...new Set([...files, ...readers])].map((file) => [file, readFileSync(join(root, file), 'utf8')]),
  )
  const importers = new Map<string, string[]>()
  for (const reader of readers)
    for (const target of targetsOf(reader)) importers.set(target, [...(importers.get(target) ?? []), reader])
  return files.flatMap((file) =>
    exportsOf(texts.get(file) ?? '')
      .filter(
        (name) => !(importers.get(file) ?? []).some((by) => new RegExp(`\\b${name}\\b`).test(texts.get(by) ?? '')),
      )
      .map((name) => `${file} ${name}`),
  )
}

/** The files that a file imports. Files in `bin/` import the compiled form, and those in `assembly/` omit the extension. */
const targetsOf = (file: string): string[] =>
  importsOf(file)
    .filter((specifier) => specifier.startsWith('.'))
    .map((specifier) =>
      normalize(join(dirname(file), specifier))
        .replace(/^build\//, '')
        .replace(/\.js$/, '')
        .replace(/(?<!\.\w+)$/, '.ts'),
    )
    .map((target) => (existsSync(join(root, target)) ? target : target.replace(/\.ts$/, '.tsx')))

const exportsOf = (text: string): string[] =>
  [...text.matchAll(/^export (?:async )?(?:const enum|const|let|function\*?|class|interface|type|enum) (\w+)/gm)].map(
    ([, name = '']) => name,
  )

/** The reason why a file must not have this import; null if it is allowed. */
function forbidden(file: string, specifier: string): string | null {
  const layer = layerOf(file)
  if (layer === undefined) return 'the file is in no known layer'
  if (specifier.startsWith('.')) {
    const target = normalize(join(dirname(file), specifier)).replace(/\.js$/, '.ts')
    const base = layer.layers.includes('src/domain') ? ['src/base'] : []
    if (![...layer.layers, ...base].some((folder) => inside(target, folder))) return `may not import ${target}`
    if (!mayEnter(dirname(file), dirname(target))) return `may not import ${target} from its module`
    const backEnd = BACK_ENDS.some((folder) => inside(target, folder))
    return backEnd && !SEES_BACK_ENDS.some((folder) => inside(file, folder))
      ? `may not name a back end (${target})`
      : null
  }
  if (specifier.startsWith('node:')) return PURE.some((layer) => inside(file, layer)) ? 'this layer does no I/O' : null
  if (builtinModules.includes(specifier)) return `write node:${specifier}`
  return layer.packages.includes(packageOf(specifier)) ? null : `may not name the package ${packageOf(specifier)}`
}

describe('layers', () => {
  const files = [
    ...sources('assembly'),
    ...sources('src'),
    ...sources('packages').filter((file) => !/\/(dist|schema)\//.test(file)),
  ]

  it('every file imports only what its layer may import', () => {
    const broken = files.flatMap((file) =>
      importsOf(file)
        .flatMap((specifier) => forbidden(file, specifier) ?? [])
        .map((why) => `${file} ${why}`),
    )
    expect(files.length).toBeGreaterThan(40)
    expect(broken).toEqual([])
  })

  it('every file of a divided layer is in a module', () => {
    const modules = new Set(Object.keys(MODULES))
    const divided = files.filter((file) => DIVIDED.some((layer) => inside(file, layer)))
    expect(divided.length).toBeGreaterThan(40)
    expect(divided.filter((file) => !modules.has(dirname(file)))).toEqual([])
  })

  it('there are no import cycles', () => {
    expect(cycles([...files, ...sources('bench')])).toEqual([])
  })

  it('every export is imported by another file', () => {
    const readers = [
      ...files,
      ...sources('bench'),
      ...sources('test'),
      ...readdirSync(join(root, 'bin')).map((name) => `bin/${name}`),
    ]
    const exporting = [...files, ...sources('bench')].filter((file) => !FOR_OTHERS.includes(file))
    expect(unusedExports(exporting, readers)).toEqual([])
  })

  it('the check rejects a forbidden import, and accepts an allowed one', () => {
    expect(forbidden('src/domain/policy.ts', 'node:fs')).not.toBeNull()
    expect(forbidden('src/base/text.ts', '../domain/policy.js')).not.toBeNull()
    expect(forbidden('src/domain/policy.ts', '../flows/attempt/verify.js')).not.toBeNull()
    expect(forbidden('src/flows/attempt/verify.ts', '../../storage/redis/session.js')).not.toBeNull()
    expect(forbidden('src/flows/attempt/verify.ts', '@redis/client')).not.toBeNull()
    expect(forbidden('src/http/server.ts', '../flows/attempt/verify.js')).not.toBeNull()
    expect(forbidden('src/flows/attempt/verify.ts', '../../storage/session.js')).toBeNull()
    expect(forbidden('src/flows/attempt/verify.ts', '../account/unlock.js')).not.toBeNull()
    expect(forbidden('src/flows/account/unlock.ts', '../attempt/verify.js')).toBeNull()
    expect(forbidden('src/storage/session.ts', './postgres/attempt/session.js')).not.toBeNull()
  })

  it('the check reads the imports of a file', () => {
    expect(importsOf('src/flows/attempt/attempt-context.ts')).toContain('../../domain/attempts.js')
    expect(importsOf('src/api/core/typing-patterns.ts')).toContain('./core-route.js')
  })

  it('the domain reads no clock and draws no random number', () => {
    const impure = /\bDate\.now\b|\bnew Date\(\)|\bMath\.random\b|\bperformance\b|\bcrypto\b/
    expect(sources('src/domain').filter((file) => impure.test(readFileSync(join(root, file), 'utf8')))).toEqual([])
  })

  it('nothing in src draws from Math.random', () => {
    expect(sources('src').filter((file) => /Math\.random/.test(readFileSync(join(root, file), 'utf8')))).toEqual([])
  })
})
