// Makes a checkout ready to run: installs the packages of the lockfile and builds every product of STEPS. Does nothing if nothing
// has changed, and in an installed package, which ships its build.
import './node-version.mjs'
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { alone } from './lock.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const at = (...parts) => join(root, ...parts)

/** Installs and builds everything that is missing or older than its sources; throws if a step fails. */
export function prepare({ force = false } = {}) {
  if (!existsSync(at('src/main.ts'))) return
  const say = (text) => process.stderr.write(`${text}\n`)
  const ready = () => installed() && Object.keys(STEPS).every(isBuilt)
  if (ready() && !force) return
  const work = () => {
    if (!installed()) {
      say('keystride: installing packages (npm ci) ...')
      run(process.platform === 'win32' ? 'npm.cmd' : 'npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'])
    }
    for (const name of Object.keys(STEPS)) {
      if (isBuilt(name) && !force) continue
      say(`keystride: building ${STEPS[name].what} ...`)
      mkdirSync(at('build'), { recursive: true })
      const stamp = hashOf(STEPS[name].sources)
      run(process.execPath, STEPS[name].command)
      writeFileSync(stampFile(name), stamp)
    }
  }
  const lock = at('.preparing')
  alone(lock, work, (pid) => say(`keystride: waiting for process ${pid}, which has the lock ${lock} ...`))
}

const STEPS = {
  recorder: {
    what: 'the recorder',
    sources: [
      'packages/recorder/src',
      'bin/packages.mjs',
      'packages/tsconfig.json',
      'tsconfig.json',
      'package-lock.json',
    ],
    product: '../packages/recorder/dist/element.js',
    command: [at('bin/packages.mjs'), 'recorder'],
  },
  pages: {
    what: 'the pages',
    sources: ['src/web/browser', 'packages/recorder/src', 'tsconfig.json', 'package-lock.json'],
    product: 'web/link.js',
    command: [at('node_modules/typescript/bin/tsc'), '-p', 'src/web/browser/tsconfig.json'],
  },
  assembly: {
    what: 'the WASM core',
    sources: ['assembly', 'asconfig.json', 'package-lock.json'],
    product: 'scoring.wasm',
    command: [
      at('node_modules/assemblyscript/bin/asc.js'),
      'assembly/index.ts',
      '--config',
      'asconfig.json',
      '--target',
      'release',
    ],
  },
  fitting: {
    what: 'the WASM module of a fit',
    sources: ['assembly/fitting.ts', 'asconfig.json', 'package-lock.json'],
    product: 'fitting.wasm',
    command: [
      at('node_modules/assemblyscript/bin/asc.js'),
      'assembly/fitting.ts',
      '--config',
      'asconfig.json',
      '--target',
      'fitting',
    ],
  },
  typescript: {
    what: 'TypeScript',
    sources: ['src', 'bench', 'texts', 'tsconfig.json', 'package-lock.json'],
    product: 'src',
    command: [at('node_modules/typescript/bin/tsc'), '-p', 'tsconfig.json'],
  },
  clients: {
    what: 'the client and the agent',
    sources: [
      'src',
      'packages/agent/src',
      'packages/client/src',
      'bin/client-schema.mjs',
      'bin/packages.mjs',
      'packages/tsconfig.json',
      'tsconfig.json',
      'package-lock.json',
    ],
    product: '../packages/client/dist/client.js',
    command: [at('bin/packages.mjs'), 'agent', 'client'],
  },
  console: {
    what: 'the console',
    sources: ['src/console', 'texts/console', 'bin/console.mjs', 'tsconfig.json', 'package-lock.json'],
    product: 'console/console.en.js',
    command: [at('bin/console.mjs')],
  },
  guide: {
    what: 'the guide',
    sources: ['docs/integrate.md', 'bin/guide.mjs', 'package-lock.json'],
    product: 'web/guide.html',
    command: [at('bin/guide.mjs')],
  },
}
const stampFile = (name) => at('build', `.stamp-${name}`)

/** Whether the product exists and its stamp matches the sources. */
function isBuilt(name) {
  const { sources, product } = STEPS[name]
  return (
    existsSync(stampFile(name)) &&
    existsSync(at('build', product)) &&
    readFileSync(stampFile(name), 'utf8') === hashOf(sources)
  )
}

/** npm writes node_modules/.package-lock.json when it has finished. A file that is older than the lockfile is outdated. */
function installed() {
  const done = at('node_modules/.package-lock.json')
  return existsSync(done) && statSync(done).mtimeMs >= statSync(at('package-lock.json')).mtimeMs
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
