import { createHash } from 'node:crypto'

/** The parts of package-lock.json (version 3) that are read. */
export interface Lockfile {
  readonly name: string
  readonly version: string
  readonly packages: Readonly<Record<string, LockedPackage>>
}
export interface LockedPackage {
  readonly name?: string
  readonly version?: string
  readonly integrity?: string
  readonly resolved?: string
  readonly link?: boolean
  readonly license?: string
  readonly dev?: boolean
  readonly devOptional?: boolean
  readonly optional?: boolean
  readonly hasInstallScript?: boolean
  readonly os?: readonly string[]
  readonly cpu?: readonly string[]
  readonly libc?: readonly string[]
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
}

/** SHA-256 of files that are checked before they are loaded, by package and file name. */
type PinnedFiles = Readonly<Record<string, Readonly<Record<string, string>>>>

const MODULES = 'node_modules/'

/** The name of the package at a path of the lockfile. */
export const nameAt = (path: string): string => path.slice(path.lastIndexOf(MODULES) + MODULES.length)

/** Whether production works without the package. `devOptional` means optional in production and needed by a development package. */
export const isOptional = ({ optional, devOptional }: LockedPackage): boolean =>
  optional === true || devOptional === true

/** Whether the package comes from a registry: it is neither this project nor one of its `packages/`, nor a link to one. */
const isForeign = (path: string, { link }: LockedPackage): boolean => path.startsWith(MODULES) && link !== true

/** The packages that `npm ci --omit=dev` may install on any platform, by path: without those that only developers need. */
export const productionTree = (lock: Lockfile): [path: string, entry: LockedPackage][] =>
  Object.entries(lock.packages).filter(([path, entry]) => isForeign(path, entry) && entry.dev !== true)

/** Development packages whose code the build puts into the console's script and style. */
export const BUNDLED: readonly string[] = ['@preact/signals', '@preact/signals-core', 'preact', 'uplot', 'uqr']
const isBundled = (path: string): boolean => BUNDLED.some((name) => path === `${MODULES}${name}`)

/** The packages whose code ships: the production tree, and the packages in the console. */
export const shippedTree = (lock: Lockfile): [path: string, entry: LockedPackage][] =>
  Object.entries(lock.packages).filter(
    ([path, entry]) => isForeign(path, entry) && (entry.dev !== true || isBundled(path)),
  )

/**
 * The shipped packages as a CycloneDX 1.6 document. It depends only on the lockfile, byte for byte: it has no time, and its
 * serial number is a hash of its content. (`npm sbom` has a time and a random number, and omits packages that a development
 * package needs too.)
 */
export function cyclonedx(lock: Lockfile, pinned: PinnedFiles): object {
  const tree = shippedTree(lock)
  const components = new Map<string, object>()
  const dependencies = new Map<string, Set<string>>()
  for (const [path, entry] of [['', lock.packages[''] ?? {}] as const, ...tree]) {
    const ref = refOf(lock, path)
    if (path !== '') components.set(ref, componentOf(nameAt(path), ref, entry, pinned[nameAt(path)] ?? {}))
    const needed = dependencies.get(ref) ?? new Set()
    for (const name of namesNeeded(entry)) {
      const found = resolved(lock, path, name)
      if (found !== null) needed.add(refOf(lock, found))
    }
    dependencies.set(ref, needed)
  }
  const body = {
    metadata: {
      component: {
        type: 'application',
        'bom-ref': refOf(lock, ''),
        name: lock.name,
        version: lock.version,
        licenses: [{ license: { id: lock.packages['']?.license ?? 'NOASSERTION' } }],
        purl: refOf(lock, ''),
      },
    },
    components: sorted(components).map(([, component]) => component),
    dependencies: sorted(dependencies).map(([ref, on]) => ({ ref, dependsOn: [...on].sort() })),
  }
  const serialNumber = `urn:uuid:${uuidOf(JSON.stringify(body))}`
  return { bomFormat: 'CycloneDX', specVersion: '1.6', serialNumber, version: 1, ...body }
}

function componentOf(
  name: string,
  ref: string,
  entry: LockedPackage,
  pinned: Readonly<Record<string, string>>,
): object {
  const [first = '', second] = name.split('/')
  const license = entry.license ?? 'NOASSERTION'
  const properties = Object.entries(pinned).map(([file, sha256]) => ({
    name: `keystride:sha256:${file}`,
    value: sha256,
  }))
  return {
    type: 'library',
    'bom-ref': ref,
    ...(second === undefined ? { name } : { group: first, name: second }),
    version: entry.version,
    scope: isOptional(entry) ? 'optional' : 'required',
    hashes: (entry.integrity ?? '').split(' ').map((integrity) => {
      const [algorithm = '', base64 = ''] = integrity.split('-')
      const alg = algorithm.toUpperCase().replace('SHA', 'SHA-')
      return { alg, content: Buffer.from(base64, 'base64').toString('hex') }
    }),
    licenses: [/[ (]/.test(license) ? { expression: license } : { license: { id: license } }],
    purl: ref,
    ...(properties.length === 0 ? {} : { properties }),
  }
}

function namesNeeded(entry: LockedPackage): string[] {
  const { dependencies, devDependencies = {}, optionalDependencies, peerDependencies } = entry
  const bundled = BUNDLED.filter((name) => name in devDependencies)
  return [...Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies }), ...bundled]
}

/** The path at which Node finds the package `name` from the package at `path`; null if that is not shipped. */
function resolved(lock: Lockfile, path: string, name: string): string | null {
  for (let from = path; ; from = from.slice(0, Math.max(0, from.lastIndexOf(`/${MODULES}`)))) {
    const candidate = `${from === '' ? '' : `${from}/`}${MODULES}${name}`
    const entry = lock.packages[candidate]
    if (entry !== undefined) return entry.dev === true && !isBundled(candidate) ? null : candidate
    if (from === '') return null
  }
}

/** The package URL of the package at a path; '' is Keystride itself. */
function refOf(lock: Lockfile, path: string): string {
  const [name, version] = path === '' ? [lock.name, lock.version] : [nameAt(path), lock.packages[path]?.version]
  return `pkg:npm/${name.replace('@', '%40')}@${version}`
}

const sorted = <T>(map: ReadonlyMap<string, T>): [string, T][] => [...map].sort(([a], [b]) => (a < b ? -1 : 1))

/** A UUID of version 8 (RFC 9562), a hash of the content. */
function uuidOf(content: string): string {
  const hex = createHash('sha256').update(content).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
