import { execFile, execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const checkout = fileURLToPath(new URL('../..', import.meta.url))

/** The version before this one: the commit of its release. */
const previous: { readonly version: string; readonly commit: string } = JSON.parse(
  readFileSync(new URL('previous-version.json', import.meta.url), 'utf8'),
)

/** Null if git has the previous version, otherwise the reason to skip its tests. Throws instead under `REQUIRE_PREVIOUS=1`. */
export function whyNoPrevious(): string | null {
  const found = spawnSync('git', ['cat-file', '-e', `${previous.commit}^{commit}`], { cwd: checkout })
  if (found.status === 0) return null
  const line = `NO PREVIOUS VERSION: upgrades are SKIPPED (commit ${previous.commit} is not in this clone: fetch the whole history)`
  if (process.env.REQUIRE_PREVIOUS === '1') throw new Error(line)
  return line
}

const run = async (cwd: string, command: string, ...args: string[]): Promise<string> =>
  (await promisify(execFile)(command, args, { cwd, maxBuffer: 2 ** 26 })).stdout

/**
 * The folder of the previous version, built and without development packages. It stays in the folder for temporary files, under the name of
 * its commit, so that only the first call takes long.
 */
export async function builtPrevious(): Promise<string> {
  const folder = join(tmpdir(), `keystride-previous-${previous.commit}`)
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
  const archive = execFileSync('git', ['archive', previous.commit], { cwd: checkout, maxBuffer: 2 ** 28 })
  execFileSync('tar', ['x', '-C', folder], { input: archive })
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  if (version !== previous.version)
    throw new Error(`previous-version.json has ${previous.version}, but the commit is of version ${version}`)
  const quiet = ['--no-audit', '--no-fund', '--loglevel=error']
  await run(folder, 'npm', 'ci', '--prefer-offline', ...quiet)
  await run(folder, 'npm', 'run', '--silent', 'build')
  await run(folder, 'npm', 'prune', '--omit=dev', ...quiet)
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
