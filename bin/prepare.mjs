// Makes a checkout ready to run: packages installed as the lockfile says, WASM core and TypeScript built. Does nothing
// where nothing changed, and nothing at all in an installed package, which ships its build.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const at = (...parts) => join(root, ...parts)

/** Installs and builds what is missing or older than its sources; throws where a step fails. */
export function prepare({ quiet = false, force = false } = {}) {
  if (!existsSync(at('src'))) return
  const say = (text) => quiet || process.stderr.write(`${text}\n`)
  if (!installed()) {
    say('keystride: installing packages (npm ci) ...')
    run(process.platform === 'win32' ? 'npm.cmd' : 'npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'])
  }
  build('assembly', ['assembly', 'asconfig.json'], 'scoring.wasm', force, () => {
    say('keystride: building the WASM core ...')
    run(process.execPath, [
      at('node_modules/assemblyscript/bin/asc.js'),
      'assembly/index.ts',
      '--config',
      'asconfig.json',
      '--target',
      'release',
    ])
  })
  build('typescript', ['src', 'bench', 'tsconfig.json'], 'src', force, () => {
    say('keystride: building TypeScript ...')
    run(process.execPath, [at('node_modules/typescript/bin/tsc'), '-p', 'tsconfig.json'])
  })
}

/** npm writes node_modules/.package-lock.json when it has finished: older than the lockfile means out of date. */
function installed() {
  const done = at('node_modules/.package-lock.json')
  return existsSync(done) && statSync(done).mtimeMs >= statSync(at('package-lock.json')).mtimeMs
}

/** Runs `make` unless the stamp of these sources is the one of the last build and its product is there. */
function build(name, sources, product, force, make) {
  const stampFile = at('build', `.stamp-${name}`)
  const stamp = hashOf([...sources, 'package-lock.json'])
  const done = existsSync(stampFile) && existsSync(at('build', product)) && readFileSync(stampFile, 'utf8') === stamp
  if (done && !force) return
  mkdirSync(at('build'), { recursive: true })
  make()
  writeFileSync(stampFile, stamp)
}

function hashOf(sources) {
  const hash = createHash('sha256')
  const read = (path) => {
    if (statSync(at(path)).isDirectory()) for (const entry of readdirSync(at(path)).sort()) read(join(path, entry))
    else
      hash
        .update(path)
        .update('\0')
        .update(readFileSync(at(path)))
        .update('\0')
  }
  sources.forEach(read)
  return hash.digest('hex')
}

function run(command, args) {
  const { status, signal, error } = spawnSync(command, args, { cwd: root, stdio: ['ignore', 2, 2] })
  if (error) throw error
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${signal ?? `status ${status}`}`)
}
