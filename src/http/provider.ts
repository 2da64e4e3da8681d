import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { ExpectedFault } from '../base/expected-fault.js'
import { nodeServer } from './node-server.js'
import { pinnedBinaries } from './provider-pins.js'
import type { UwsModule } from './uws.js'

export const HTTP_SERVERS = ['auto', 'uws', 'node'] as const
export type HttpServerChoice = (typeof HTTP_SERVERS)[number]

/** The HTTP server in use, for the start-up line, `/metrics` and every bench report that measures it. */
export interface Provider {
  readonly name: 'uWebSockets.js' | 'node:http'
  readonly version: string
  /** SHA-256 of the binary, lower-case hex; null for `node:http`. */
  readonly sha256: string | null
  /** Why the binary is not used; null if it is used, or if the setting is `node`. */
  readonly whyNot: string | null
  readonly uws: UwsModule
}

/** The cost of `node:http` in words; docs/benchmarks.md has the measurement. */
export const NODE_COST = 'No binary of uWebSockets.js loads here: a verify costs 7 to 16 % more processor time'

/** Name and version, such as `node:http 24.21.0`. */
export const httpServerOf = ({ name, version }: Provider): string => `${name} ${version}`

const PACKAGE = '@btc-vision/uwebsockets.js'

const require = createRequire(import.meta.url)

/**
 * The HTTP server by the setting `HTTP_SERVER`: uWebSockets.js where its binary loads (Node 20, 22, 24 and 25 on glibc 2.38 or
 * newer, macOS, Windows), else `node:http`. The binary is hashed and compared with the pinned list before it is loaded, because
 * loading runs it. Throws for `uws` if it does not load.
 */
export function loadProvider(choice: HttpServerChoice = 'auto'): Provider {
  const node = (whyNot: string | null): Provider => {
    const version = process.versions.node
    return { name: 'node:http', version, sha256: null, whyNot, uws: nodeServer }
  }
  if (choice === 'node') return node(null)
  try {
    return loadPinned()
  } catch (error) {
    const whyNot = (error instanceof Error ? error.message : String(error)).split('\n', 1)[0] ?? ''
    if (choice === 'auto') return node(whyNot)
    throw new ExpectedFault(`HTTP_SERVER=uws: no binary of uWebSockets.js loads (${whyNot}); auto serves by node:http`)
  }
}

function loadPinned(): Provider {
  const entry = require.resolve(PACKAGE)
  const build = `${process.platform}_${process.arch}_${process.versions.modules}`
  const file = join(dirname(entry), `uws_${build}.node`)
  if (!existsSync(file)) throw new Error(`${PACKAGE} has no binary for ${build}`)
  const sha256 = sha256Of(file)
  if (pinnedBinaries[PACKAGE]?.[build] !== sha256)
    throw new Error(`the binary of ${PACKAGE} for ${build} is not the pinned one (SHA-256 ${sha256})`)
  // Sound: the hash is one of the builds that UwsModule was written from.
  const uws = require(file) as UwsModule
  const { version } = JSON.parse(readFileSync(join(dirname(entry), 'package.json'), 'utf8')) as { version: string }
  return { name: 'uWebSockets.js', version, sha256, whyNot: null, uws }
}

function sha256Of(file: string): string {
  return createHash('sha256').update(readFileSync(file)).digest('hex')
}
