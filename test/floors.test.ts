import { readdirSync, readFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { dirname, join, normalize, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'

const root = dirname(dirname(fileURLToPath(import.meta.url)))

/** What a floor may import: other floors by folder, packages by name. The longest matching folder holds. */
interface Floor {
  readonly floors: readonly string[]
  readonly packages: readonly string[]
}
const POSTGRES = ['postgres', 'pg', 'pg-boss']
const FLOORS: Record<string, Floor> = {
  'src/domain': { floors: ['src/domain'], packages: ['zod'] },
  'src/storage': { floors: ['src/storage', 'src/domain'], packages: [] },
  'src/storage/crypto/code-hash-argon2.ts': { floors: ['src/storage', 'src/domain'], packages: ['piscina'] },
  'src/storage/crypto/code-hash-thread.ts': { floors: ['src/storage', 'src/domain'], packages: ['@node-rs/argon2'] },
  'src/storage/geography-files.ts': { floors: ['src/storage', 'src/domain'], packages: ['mmdb-lib'] },
  'src/storage/postgres': { floors: ['src/storage', 'src/domain'], packages: POSTGRES },
  'src/storage/redis': { floors: ['src/storage', 'src/domain'], packages: ['@redis/client'] },
  'src/scoring': { floors: ['src/scoring', 'src/domain'], packages: ['piscina'] },
  'src/scoring/user-agent.ts': { floors: ['src/scoring', 'src/domain'], packages: ['bowser'] },
  'src/calibration': { floors: ['src/calibration', 'src/scoring', 'src/domain'], packages: [] },
  'src/flows': { floors: ['src/flows', 'src/domain', 'src/storage', 'src/scoring'], packages: [] },
  'src/http': { floors: ['src/http', 'src/domain'], packages: ['zod', 'prom-client'] },
  'src/api': {
    floors: ['src/api', 'src/domain', 'src/flows', 'src/http', 'src/storage', 'src/web'],
    packages: ['zod'],
  },
  'src/web': { floors: ['src/web', 'src/domain'], packages: [] },
  'src/web/browser': { floors: ['src/web/browser'], packages: ['keystride'] },
  'src/jobs': { floors: ['src/jobs', 'src/domain', 'src/storage', 'src/flows'], packages: ['csv-stringify', 'yazl'] },
  'src/jobs/channels': { floors: ['src/jobs', 'src/domain', 'src/storage', 'src/flows'], packages: ['nodemailer'] },
  'src/recorder': { floors: ['src/recorder'], packages: [] },
  'src/process': {
    floors: ['src/process', 'src/domain', 'src/http', 'src/scoring', 'src/storage'],
    packages: ['uuid', 'zod'],
  },
  'src/capacity': { floors: ['src/capacity', 'src/domain'], packages: ['zod'] },
  'src/typist': { floors: ['src/typist'], packages: [] },
  'src/wiring': { floors: ['src'], packages: ['uuid'] },
  'src/cli': { floors: ['src'], packages: ['commander', 'uuid', 'zod'] },
  src: { floors: ['src'], packages: [] },
}
/**
 * Rooms inside a floor: the rooms of the same floor that each room may import. A room is a folder.
 * Flows are a stack: a room sees rooms to the left of it only.
 */
const FLOW_ROOMS = ['process', 'organization', 'session', 'attempt', 'account', 'profile', 'legacy'] as const
const ROOMS: Record<string, readonly string[]> = {
  ...Object.fromEntries(
    FLOW_ROOMS.map((room, at) => [`src/flows/${room}`, FLOW_ROOMS.slice(0, at).map((below) => `src/flows/${below}`)]),
  ),
  'src/domain': ['src/domain/context', 'src/domain/validation', 'src/domain/words'],
  'src/domain/context': ['src/domain/validation'],
  'src/domain/validation': [],
  'src/domain/words': [],
  'src/http': ['src/http/intake'],
  'src/http/intake': [],
  'src/http/docs': ['src/http'],
  'src/api': ['src/api/core', 'src/api/core/legacy', 'src/api/dashboard', 'src/api/links'],
  'src/api/core': [],
  'src/api/core/legacy': ['src/api/core'],
  'src/api/dashboard': [],
  'src/api/links': ['src/api/core'],
  'src/web': ['src/web/browser', 'src/web/texts'],
  'src/web/browser': [],
  'src/web/texts': ['src/web/browser'],
  'src/jobs': [],
  'src/jobs/channels': [],
  'src/flows/insight': [],
  'src/flows/alert': [],
  'src/storage': [],
  'src/storage/crypto': ['src/storage'],
  'src/storage/redis': ['src/storage'],
  'src/storage/postgres/connection': ['src/storage'],
  'src/storage/postgres/embedded': [],
  'src/storage/postgres/insight': ['src/storage', 'src/storage/postgres/connection'],
  'src/storage/postgres/organization': ['src/storage', 'src/storage/postgres/connection'],
  'src/storage/postgres/schema': [
    'src/storage',
    'src/storage/postgres/connection',
    'src/storage/postgres/embedded',
    'src/storage/postgres/insight',
  ],
  'src/storage/postgres/person': [
    'src/storage',
    'src/storage/postgres/connection',
    'src/storage/postgres/insight',
    'src/storage/postgres/schema',
  ],
  'src/storage/postgres/attempt': ['src/storage', 'src/storage/postgres/connection', 'src/storage/postgres/person'],
}
/** Floors that are divided into rooms entirely: no file may lie outside a room. */
const DIVIDED = ['src/api', 'src/domain', 'src/flows', 'src/http', 'src/jobs', 'src/storage', 'src/web']
/** Exports for others than this repository: the recorder's module, and the text of a file that a bench prints. */
const FOR_OTHERS = ['src/recorder/recorder.ts', 'bench/accuracy/words.ts']
/** Above storage, flows and api see its interfaces, never a back end. */
const BACK_ENDS = ['src/storage/postgres', 'src/storage/redis']
const SEES_BACK_ENDS = ['src/storage', 'src/wiring/open-stores.ts']

const sources = (folder: string): string[] =>
  readdirSync(join(root, folder), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))

const importsOf = (file: string): string[] =>
  ts.preProcessFile(readFileSync(join(root, file), 'utf8'), true, true).importedFiles.map(({ fileName }) => fileName)

const inside = (file: string, folder: string) => file === folder || file.startsWith(`${folder}/`)
const floorOf = (file: string): Floor | undefined => {
  const folder = Object.keys(FLOORS)
    .filter((candidate) => inside(file, candidate))
    .sort((a, b) => b.length - a.length)[0]
  return folder === undefined ? undefined : FLOORS[folder]
}
const packageOf = (specifier: string) =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')

/** Whether a file in this folder may import from that folder, where both belong to rooms of one floor. */
function mayEnter(from: string, to: string): boolean {
  const oneFloor = DIVIDED.some((floor) => inside(from, floor) && inside(to, floor))
  return !oneFloor || from === to || (ROOMS[from]?.includes(to) ?? false)
}

/** The files on a circle of imports, each circle once; [] where no import leads back. */
function circles(files: readonly string[]): string[][] {
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

/** Exports that no file among the readers imports. */
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

/** The files of `src` and `bench` that a file imports; what bin/ imports is their compiled form. */
const targetsOf = (file: string): string[] =>
  importsOf(file)
    .filter((specifier) => specifier.startsWith('.'))
    .map((specifier) =>
      normalize(join(dirname(file), specifier))
        .replace(/^build\//, '')
        .replace(/\.js$/, '.ts'),
    )

const exportsOf = (text: string): string[] =>
  [...text.matchAll(/^export (?:async )?(?:const enum|const|function\*?|class|interface|type|enum) (\w+)/gm)].map(
    ([, name = '']) => name,
  )

/** Why this import may not stand in this file; null where it may. */
function forbidden(file: string, specifier: string): string | null {
  const floor = floorOf(file)
  if (floor === undefined) return 'the file stands on no known floor'
  if (specifier.startsWith('.')) {
    const target = normalize(join(dirname(file), specifier)).replace(/\.js$/, '.ts')
    if (!floor.floors.some((folder) => inside(target, folder))) return `may not import ${target}`
    if (!mayEnter(dirname(file), dirname(target))) return `may not import ${target} from its room`
    const backEnd = BACK_ENDS.some((folder) => inside(target, folder))
    return backEnd && !SEES_BACK_ENDS.some((folder) => inside(file, folder))
      ? `may not name a back end (${target})`
      : null
  }
  if (specifier.startsWith('node:')) return inside(file, 'src/domain') ? 'the domain does no I/O' : null
  if (builtinModules.includes(specifier)) return `write node:${specifier}`
  return floor.packages.includes(packageOf(specifier)) ? null : `may not name the package ${packageOf(specifier)}`
}

describe('floors', () => {
  const files = sources('src')

  it('every import of every file stays on the floors it may know', () => {
    const broken = files.flatMap((file) =>
      importsOf(file)
        .flatMap((specifier) => forbidden(file, specifier) ?? [])
        .map((why) => `${file} ${why}`),
    )
    expect(files.length).toBeGreaterThan(40)
    expect(broken).toEqual([])
  })

  it('every file of a divided floor lies in a room', () => {
    const rooms = new Set(Object.keys(ROOMS))
    const divided = files.filter((file) => DIVIDED.some((floor) => inside(file, floor)))
    expect(divided.length).toBeGreaterThan(40)
    expect(divided.filter((file) => !rooms.has(dirname(file)))).toEqual([])
  })

  it('no import leads back to its file', () => {
    expect(circles(files)).toEqual([])
  })

  it('exports nothing that no other file imports', () => {
    const readers = [
      ...files,
      ...sources('bench'),
      ...sources('test'),
      ...readdirSync(join(root, 'bin')).map((name) => `bin/${name}`),
    ]
    const exporting = [...files, ...sources('bench')].filter((file) => !FOR_OTHERS.includes(file))
    expect(unusedExports(exporting, readers)).toEqual([])
  })

  it('the rule notices what it forbids', () => {
    expect(forbidden('src/domain/policy.ts', 'node:fs')).not.toBeNull()
    expect(forbidden('src/domain/policy.ts', '../flows/attempt/verify.js')).not.toBeNull()
    expect(forbidden('src/flows/attempt/verify.ts', '../../storage/redis/session.js')).not.toBeNull()
    expect(forbidden('src/flows/attempt/verify.ts', '@redis/client')).not.toBeNull()
    expect(forbidden('src/http/server.ts', '../flows/attempt/verify.js')).not.toBeNull()
    expect(forbidden('src/flows/attempt/verify.ts', '../../storage/session.js')).toBeNull()
    expect(forbidden('src/flows/attempt/verify.ts', '../account/unlock.js')).not.toBeNull()
    expect(forbidden('src/flows/account/unlock.ts', '../attempt/verify.js')).toBeNull()
    expect(forbidden('src/storage/session.ts', './postgres/attempt/session.js')).not.toBeNull()
  })

  it('reads the imports it judges', () => {
    expect(importsOf('src/flows/attempt/attempt-context.ts')).toContain('../../domain/attempts.js')
    expect(importsOf('src/api/core/typing-patterns.ts')).toContain('./core-route.js')
  })

  it('the domain reads no clock and draws no random number', () => {
    const impure = /\bDate\.now\b|\bnew Date\(\)|\bMath\.random\b|\bperformance\b|\bcrypto\b/
    expect(sources('src/domain').filter((file) => impure.test(readFileSync(join(root, file), 'utf8')))).toEqual([])
  })

  it('nothing in src draws from Math.random', () => {
    expect(files.filter((file) => /Math\.random/.test(readFileSync(join(root, file), 'utf8')))).toEqual([])
  })
})
