/** The repository as the choice of long tests sees it. */
interface Change {
  /** Every file of `test/`, as `test/a/b.test.ts`. */
  readonly files: readonly string[]
  /** The files that changed, as paths from the root. */
  readonly changed: readonly string[]
  /** Number of commits, which decides the turn. */
  readonly commits: number
  /** The table of layers (`layers.ts`). */
  readonly layers: Readonly<Record<string, { readonly layers: readonly string[] }>>
}

interface Choice {
  /** The files to run, sorted, each once. */
  readonly chosen: readonly string[]
  /** Long tests that another turn runs. */
  readonly left: readonly string[]
  /** The folders of `test/` whose long tests all run. */
  readonly folders: readonly string[]
}

/** A run takes this share of the tests of unchanged folders. */
const TURNS = 3

/** Stands for every folder, because a change of the files that all tests share concerns all. */
const EVERY = '*'
const SHARED = ['test/harness/', 'test/servers/', 'vitest.config.ts']

/** Folders of tests by the folder that they test, where `test/` does not mirror it by name. */
const TESTED_BY: Readonly<Record<string, readonly string[]>> = {
  'packages/recorder': ['recorder', 'web'],
  packages: ['packages'],
  examples: ['packages'],
  assembly: ['assembly', 'scoring', 'calibration'],
  deploy: ['deploy', 'monitoring'],
  'src/recorder': ['recorder'],
}

/**
 * The long tests of a run: those of each folder that changed, those of each layer that imports a layer that changed, and a
 * third of the others in turn.
 */
export function longTests({ files, changed, commits, layers }: Change): Choice {
  const all = files.filter((file) => file.endsWith('.long.test.ts')).sort()
  const changedFolders = new Set(changed.flatMap((file) => foldersOf(file, layers)))
  const changedFiles = new Set(changed)
  const isOfChange = (file: string) =>
    changedFolders.has(EVERY) || changedFiles.has(file) || changedFolders.has(folderOf(file))
  const others = all.filter((file) => !isOfChange(file))
  const turn = new Set(others.filter((_, i) => i % TURNS === commits % TURNS))
  return {
    chosen: all.filter((file) => isOfChange(file) || turn.has(file)),
    left: others.filter((file) => !turn.has(file)),
    folders: [...new Set(all.filter(isOfChange).map(folderOf))].sort(),
  }
}

/** The first folder below `test/`; '' for a file in `test/` itself. */
const folderOf = (file: string) => (file.split('/').length > 2 ? (file.split('/')[1] ?? '') : '')

/** The folders of `test/` that a change of a file concerns. */
function foldersOf(file: string, layers: Change['layers']): string[] {
  if (SHARED.some((shared) => file.startsWith(shared))) return [EVERY]
  if (file.startsWith('test/')) return folderOf(file) === '' ? [] : [folderOf(file)]
  const own = Object.keys(TESTED_BY).find((folder) => file.startsWith(`${folder}/`))
  if (own !== undefined) return [...(TESTED_BY[own] ?? [])]
  const [top = '', layer = ''] = file.split('/')
  if (top !== 'src') return [top]
  const importers = Object.entries(layers)
    .filter(([, { layers: imported }]) => imported.includes(`src/${layer}`))
    .map(([importer]) => importer.split('/')[1] ?? '')
  return [layer, ...importers]
}
