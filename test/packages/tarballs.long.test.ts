import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import ts from 'typescript'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))

interface Shipped {
  readonly name: string
  /** The bundle whose size is bounded, and its most bytes after minification and gzip. */
  readonly bounds: readonly (readonly [entry: string, bytes: number])[]
  /** A program that a customer might write; its output is compared. */
  readonly program: string
  readonly output: string
}

const PACKAGES: readonly Shipped[] = [
  {
    name: 'recorder',
    bounds: [
      ['@keystride/recorder/element', 9_000],
      ['@keystride/recorder', 4_000],
    ],
    // A server that renders pages imports the element, too.
    program: `import { createRecorder, RECORDER_VERSION, type TypingPattern } from '@keystride/recorder'
import { KeystrideTyping } from '@keystride/recorder/element'
const valueOf = (element: KeystrideTyping): TypingPattern | null => element.pattern
console.log(typeof createRecorder, RECORDER_VERSION, typeof KeystrideTyping, typeof valueOf)`,
    output: 'function 1.0.0 function function',
  },
  {
    name: 'client',
    bounds: [['@keystride/client', 6_000]],
    program: `import { createKeystride, KeystrideError, type SignIn } from '@keystride/client'
const keystride = createKeystride({ url: 'http://127.0.0.1:9', apikey: 'key' })
const kindOf = (result: SignIn): string => (result.kind === 'authenticated' ? result.userRef : result.kind)
keystride.signIn({ userRef: 'ann', ip: '192.0.2.1' }).then(kindOf).catch((error: unknown) => {
  console.log(error instanceof KeystrideError && error.reason)
})`,
    output: 'no-answer',
  },
  {
    name: 'agent',
    bounds: [['@keystride/agent', 3_000]],
    program: `import { createAgent, type VerifyResult } from '@keystride/agent'
const agent = createAgent({ url: 'http://127.0.0.1:9', apikey: 'key' })
const show = ({ code, recommendedAction }: VerifyResult): void => console.log(code, recommendedAction)
agent.verify('ann', { kevt: [] }).then(show)`,
    output: '203 null',
  },
]

/** Node by version: the one of this run, and those in the folder KEYSTRIDE_NODES. */
const NODES: readonly string[] = [
  process.execPath,
  ...(process.env.KEYSTRIDE_NODES === undefined
    ? []
    : readdirSync(process.env.KEYSTRIDE_NODES).map((name) =>
        join(process.env.KEYSTRIDE_NODES ?? '', name, 'bin/node'),
      )),
].filter((node) => existsSync(node))

describe.each(PACKAGES)('the package @keystride/$name, installed from its tarball in an empty folder', (shipped) => {
  let folder: string
  let files: readonly string[]
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'keystride-tarball-'))
    const npm = (cwd: string, ...args: string[]) => execFileSync('npm', args, { cwd, encoding: 'utf8' })
    const [packed] = JSON.parse(
      npm(join(root, 'packages', shipped.name), 'pack', '--json', '--pack-destination', folder),
    )
    files = packed.files.map(({ path }: { path: string }) => path)
    mkdirSync(join(folder, 'app'))
    writeFileSync(join(folder, 'app/package.json'), '{ "private": true, "type": "module" }\n')
    npm(join(folder, 'app'), 'install', '--no-audit', '--no-fund', '--offline', join(folder, packed.filename))
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it('has its README and licence, and needs no other package', () => {
    expect(files).toEqual(expect.arrayContaining(['README.md', 'LICENSE', 'package.json']))
    expect(files.filter((file) => !/^(dist\/|README\.md|LICENSE|package\.json|vectors\.json)/.test(file))).toEqual([])
    expect(readdirSync(join(folder, 'app/node_modules')).filter((name) => name !== '.package-lock.json')).toEqual([
      '@keystride',
    ])
    const { version, license } = JSON.parse(readFileSync(join(root, 'packages', shipped.name, 'package.json'), 'utf8'))
    expect([version, license]).toEqual([
      JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version,
      'Apache-2.0',
    ])
  })

  it.each(shipped.bounds)('is small: %s in %i bytes', async (entry, bytes) => {
    const built = await build({
      stdin: { contents: `export * from '${entry}'`, resolveDir: join(folder, 'app') },
      bundle: true,
      minify: true,
      write: false,
      format: 'esm',
      // The languages of the element are loaded on demand.
      external: ['./texts/*'],
    })
    expect(gzipSync(built.outputFiles[0]?.contents ?? '').length).toBeLessThan(bytes)
  })

  it.each<[how: string, file: string, module: ts.ModuleKind, resolution: ts.ModuleResolutionKind]>([
    ['ES modules', 'program.ts', ts.ModuleKind.NodeNext, ts.ModuleResolutionKind.NodeNext],
    ['a bundler', 'bundled.ts', ts.ModuleKind.ESNext, ts.ModuleResolutionKind.Bundler],
    ['CommonJS', 'program.cts', ts.ModuleKind.NodeNext, ts.ModuleResolutionKind.NodeNext],
    ['CommonJS without ES modules', 'old.cts', ts.ModuleKind.Node16, ts.ModuleResolutionKind.Node16],
  ])(
    'compiles in TypeScript with strict options for %s, and runs on every Node here',
    (_, name, module, resolution) => {
      const file = join(folder, 'app', name)
      writeFileSync(file, shipped.program)
      const compiled = ts.createProgram([file], {
        strict: true,
        exactOptionalPropertyTypes: true,
        noUncheckedIndexedAccess: true,
        module,
        moduleResolution: resolution,
        target: ts.ScriptTarget.ES2022,
        lib: ['lib.es2023.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
        types: [],
        outDir: join(folder, 'app'),
      })
      const wrong = ts.getPreEmitDiagnostics(compiled).map(({ messageText }) => messageText)
      expect(wrong).toEqual([])
      compiled.emit()
      for (const node of NODES) expect(ran(node, file.replace(/ts$/, 'js')), node).toBe(shipped.output)
    },
  )

  it('is the same by require and by import, where Node loads ES modules by require', () => {
    const entries = shipped.bounds.map(([entry]) => entry)
    const program = join(folder, 'app/same.cjs')
    writeFileSync(
      program,
      `Promise.all(${JSON.stringify(entries)}.map(async (entry) => {
        const [required, imported] = [require(entry), await import(entry)]
        return Object.keys(required).every((name) => required[name] === imported[name])
      })).then((same) => console.log(!process.features.require_module || same.every(Boolean)))`,
    )
    for (const node of NODES) expect(ran(node, program), node).toBe('true')
  })

  /** The output of a program in the folder that has the package. */
  const ran = (node: string, program: string): string =>
    execFileSync(node, [program], { cwd: join(folder, 'app'), encoding: 'utf8' }).trim()
})
