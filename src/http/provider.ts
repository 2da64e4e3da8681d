import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { pinnedBinaries } from './provider-pins.js'

/** The part of a uWebSockets.js response that every provider has (the older one lacks `collectBody` and `onDataV2`). */
export interface UwsResponse {
  onAborted(handler: () => void): UwsResponse
  /** `chunk` is valid only during the call: copy it to keep it. */
  onData(handler: (chunk: ArrayBuffer, isLast: boolean) => void): UwsResponse
  cork(write: () => void): UwsResponse
  writeStatus(status: string): UwsResponse
  writeHeader(name: string, value: string): UwsResponse
  end(body: string | Uint8Array, closeConnection?: boolean): UwsResponse
  /** Writes the head with a length of `totalSize`, and `part` of the body. The second value is true if the body is complete. */
  tryEnd(part: string | Uint8Array, totalSize: number): [boolean, boolean]
  /** Closes the connection at once; any onAborted handler runs. */
  close(): UwsResponse
}

/** On the C++ stack: valid only until the route handler returns or awaits. */
export interface UwsRequest {
  getMethod(): string
  getUrl(): string
  /** The raw query; undefined (20.30) or empty if the target has none. */
  getQuery(): string | undefined
  forEach(visit: (name: string, value: string) => void): void
}

/** The native listen socket, opaque. */
export type UwsListenSocket = object

export interface UwsApp {
  any(pattern: string, handler: (res: UwsResponse, req: UwsRequest) => void): UwsApp
  listen(host: string, port: number, options: number, done: (socket: UwsListenSocket | false) => void): UwsApp
  /** Closes every socket of the app, idle and busy. */
  close(): UwsApp
}

export interface UwsModule {
  App(): UwsApp
  us_listen_socket_close(socket: UwsListenSocket): void
  us_socket_local_port(socket: UwsListenSocket): number
  readonly LIBUS_LISTEN_EXCLUSIVE_PORT: number
}

/** The uWebSockets.js in use, for the start-up line, `/metrics` and every bench report. */
export interface Provider {
  readonly name: string
  readonly version: string
  /** False only for the plain Node fallback of `allowFallback`, which has a third of the speed and must not be benchmarked. */
  readonly native: boolean
  /** SHA-256 of the binary, lower-case hex; null for the fallback. */
  readonly sha256: string | null
  /** True if an operator named the package: the pinned list does not apply. */
  readonly namedByOperator: boolean
  readonly uws: UwsModule
}

interface ProviderOptions {
  /** A package to load instead of the two known ones (`UWS_PROVIDER`), such as the official release. Not pinned. */
  readonly named?: string | undefined
  /** Allows the fallback in plain Node if no native binary loads. For development only. */
  readonly allowFallback?: boolean
}

const fallbackPackage = '@trufflesuite/uws-js-unofficial'

/** In order of preference. `binaries` is the folder of the binaries, relative to the file that `require` resolves. */
const known: readonly { readonly name: string; readonly binaries: string }[] = [
  { name: '@btc-vision/uwebsockets.js', binaries: '.' },
  { name: fallbackPackage, binaries: '../binaries' },
]

const require = createRequire(import.meta.url)

/**
 * Loads the first uWebSockets.js that has a native binary for this machine: the first republication (glibc 2.38 or newer,
 * macOS, Windows), then the second (Node 20 on older glibc too); or the package that an operator names. A known binary is
 * hashed and compared with the pinned list before it is loaded, because loading runs it. It is required by its own path, so
 * that the second package cannot substitute its Node fallback. Throws with every reason if none loads.
 */
export function loadProvider(options: ProviderOptions = {}): Provider {
  if (options.named !== undefined && options.named !== '')
    return loadNamed(options.named, options.allowFallback ?? false)
  const reasons: string[] = []
  for (const candidate of known) {
    try {
      return loadPinned(candidate.name, candidate.binaries)
    } catch (error) {
      reasons.push(`${candidate.name}: ${firstLine(error)}`)
    }
  }
  if (options.allowFallback) return loadFallback()
  throw new Error(
    `no native uWebSockets.js for ${process.platform} ${process.arch}, Node ${process.versions.node} ` +
      `(${reasons.join('; ')}). Install a release for this machine and name its package in UWS_PROVIDER.`,
  )
}

function loadPinned(name: string, binaries: string): Provider {
  const entry = require.resolve(name)
  const build = `${process.platform}_${process.arch}_${process.versions.modules}`
  const file = join(dirname(entry), binaries, `uws_${build}.node`)
  if (!existsSync(file)) throw new Error(`ships no binary for ${build}`)
  const sha256 = sha256Of(file)
  if (pinnedBinaries[name]?.[build] !== sha256) {
    throw new Error(`its binary for ${build} is not the pinned one (SHA-256 ${sha256}): not loaded`)
  }
  // Sound: the hash is one of the builds that UwsModule was written from.
  const uws = require(file) as UwsModule
  return { name, version: versionOf(entry, name), native: true, sha256, namedByOperator: false, uws }
}

function loadNamed(name: string, allowFallback: boolean): Provider {
  const entry = require.resolve(name)
  const loaded: unknown = require(name)
  if (!isUws(loaded)) throw new Error(`UWS_PROVIDER names ${name}, which is not uWebSockets.js`)
  const version = versionOf(entry, name)
  const file = binaryBehind(loaded)
  if (file === null && !allowFallback) {
    throw new Error(`UWS_PROVIDER names ${name}, which loads no native binary here but a fallback: refused`)
  }
  const sha256 = file === null ? null : sha256Of(file)
  return { name, version, native: file !== null, sha256, namedByOperator: true, uws: loaded }
}

function loadFallback(): Provider {
  const entry = require.resolve(fallbackPackage)
  const loaded: unknown = require(join(dirname(entry), '../dist/index.js'))
  if (!isUws(loaded)) throw new Error(`${fallbackPackage} ships no fallback`)
  const version = versionOf(entry, fallbackPackage)
  return { name: fallbackPackage, version, native: false, sha256: null, namedByOperator: false, uws: loaded }
}

/** The `.node` file that the module was loaded from; null for JavaScript, which is a fallback. */
function binaryBehind(loaded: unknown): string | null {
  for (const [file, module] of Object.entries(require.cache)) {
    if (file.endsWith('.node') && module?.exports === loaded) return file
  }
  return null
}

function isUws(loaded: unknown): loaded is UwsModule {
  return (
    typeof loaded === 'object' &&
    loaded !== null &&
    'App' in loaded &&
    typeof loaded.App === 'function' &&
    'us_listen_socket_close' in loaded
  )
}

function sha256Of(file: string): string {
  return createHash('sha256').update(readFileSync(file)).digest('hex')
}

/** Read from the file system, because a package's `exports` may hide its package.json. */
function versionOf(entry: string, name: string): string {
  for (let folder = dirname(entry); folder !== dirname(folder); folder = dirname(folder)) {
    const file = join(folder, 'package.json')
    if (!existsSync(file)) continue
    const manifest: unknown = JSON.parse(readFileSync(file, 'utf8'))
    if (typeof manifest !== 'object' || manifest === null) continue
    if (!('name' in manifest && 'version' in manifest)) continue
    if (manifest.name === name || !name.startsWith('.')) return String(manifest.version)
  }
  return 'unknown'
}

function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n', 1)[0] ?? ''
}
