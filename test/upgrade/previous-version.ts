import { execFile, execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const checkout = fileURLToPath(new URL('../..', import.meta.url))

const MIGRATIONS = 'src/storage/postgres/migrations'

/** The release before this version. Its commit is null before the first release. */
const released: { readonly version: string; readonly commit: string | null } = JSON.parse(
  readFileSync(new URL('previous-version.json', import.meta.url), 'utf8'),
)

/** The output of git; null if git fails. */
function git(...args: string[]): string | null {
  const { status, stdout } = spawnSync('git', args, { cwd: checkout, encoding: 'utf8' })
  return status === 0 ? stdout.trim() : null
}

/**
 * Before the first release, a change of a table changes its file, and no migration leads to it. Upgrades then start at the oldest
 * commit whose migrations are the first ones of this checkout. At the commit that changes a file, this is that commit itself.
 */
function firstWithThisSchema(): string | null {
  if (git('rev-parse', '--is-shallow-repository') !== 'false') return null
  const ofCommit = (commit: string) =>
    (git('ls-tree', `${commit}:${MIGRATIONS}`)?.split('\n') ?? []).map((line) => line.split(/\s/)[2])
  const files = readdirSync(join(checkout, MIGRATIONS)).sort()
  const here = git('hash-object', ...files.map((file) => join(MIGRATIONS, file)))?.split('\n') ?? []
  const commits = git('log', '--format=%H', '--', MIGRATIONS)?.split('\n') ?? []
  const leads = (found: readonly (string | undefined)[]) =>
    found.length > 0 && found.every((hash, i) => hash === here[i])
  return commits.filter((commit) => leads(ofCommit(commit))).at(-1) ?? null
}

const previous = released.commit ?? firstWithThisSchema()

/** Null if git has the previous version, otherwise the reason to skip its tests. Throws instead under `REQUIRE_PREVIOUS=1`. */
export function whyNoPrevious(): string | null {
  const has = previous !== null && git('cat-file', '-e', `${previous}^{commit}`) !== null
  if (has) return null
  const why =
    previous === null ? 'no commit has the migrations of this checkout: commit them' : `commit ${previous} is not here`
  const line = `NO PREVIOUS VERSION: upgrades are SKIPPED (${why}, or fetch the whole history)`
  if (process.env.REQUIRE_PREVIOUS === '1') throw new Error(line)
  return line
}

/** The previous version, for the output of a test. */
export const describePrevious = (): string =>
  `${released.version} of commit ${previous}, ${git('rev-list', '--count', `${previous}..HEAD`)} commits before this one`

const run = async (cwd: string, command: string, ...args: string[]): Promise<string> =>
  (await promisify(execFile)(command, args, { cwd, maxBuffer: 2 ** 26 })).stdout

/**
 * The folder of the previous version, built and without development packages. It stays in the folder for temporary files, under the name of
 * its commit, so that only the first call takes long.
 */
export async function builtPrevious(): Promise<string> {
  const folder = join(tmpdir(), `keystride-previous-${previous}`)
  if (existsSync(folder)) return folder
  // Under its name only when it is complete: another process may build it at the same time, or this one may be killed.
  const made = mkdtempSync(`${folder}-`)
  try {
    await build(made)
    renameSync(made, folder)
  } catch (error) {
    rmSync(made, { recursive: true, force: true })
    if (!existsSync(folder)) throw error
  }
  return folder
}

async function build(folder: string): Promise<void> {
  const archive = execFileSync('git', ['archive', String(previous)], { cwd: checkout, maxBuffer: 2 ** 28 })
  execFileSync('tar', ['x', '-C', folder], { input: archive })
  const manifest = join(folder, 'package.json')
  const content = JSON.parse(readFileSync(manifest, 'utf8'))
  if (content.version !== released.version)
    throw new Error(`previous-version.json has ${released.version}, but the commit is of version ${content.version}`)
  const quiet = ['--no-audit', '--no-fund', '--loglevel=error']
  await run(folder, 'npm', 'ci', '--prefer-offline', ...quiet)
  await run(folder, 'npm', 'run', '--silent', 'build')
  await run(folder, 'npm', 'prune', '--omit=dev', ...quiet)
  // Two releases differ in their version, and builds of one version would replace each other's functions.
  if (released.commit === null) writeFileSync(manifest, JSON.stringify({ ...content, version: '0.0.0' }))
}

/** Runs a command of the previous version and returns the first line of its output. */
export async function previousKeystride(
  folder: string,
  env: Record<string, string>,
  ...args: string[]
): Promise<string> {
  const child = promisify(execFile)(process.execPath, [join(folder, 'bin/keystride.mjs'), ...args], {
    cwd: folder,
    env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', ...env },
  })
  return (await child).stdout.split('\n')[0] ?? ''
}
