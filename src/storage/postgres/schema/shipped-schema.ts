import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

export interface SqlFile {
  /** The name of the file, without `.sql`. */
  readonly name: string
  readonly text: string
}

/** The schema of one version of Keystride. */
export interface ShippedSchema {
  readonly version: string
  /** Migrations in the order in which they apply; the last one names the state of the tables. */
  readonly migrations: readonly SqlFile[]
  /** Files with one function or procedure of the same name. */
  readonly functions: readonly SqlFile[]
}

/** The schema of this version, read from the folders of the package. */
export function shippedSchema(): ShippedSchema {
  const { root, version } = thisPackage()
  const folder = path.join(root, 'src/storage/postgres')
  return {
    version,
    migrations: sqlFiles(path.join(folder, 'migrations')),
    functions: sqlFiles(path.join(folder, 'schema/functions')),
  }
}

const sqlFiles = (folder: string): SqlFile[] =>
  readdirSync(folder)
    .filter((file) => file.endsWith('.sql'))
    .sort()
    .map((file) => ({ name: path.basename(file, '.sql'), text: readFileSync(path.join(folder, file), 'utf8') }))

/** Keystride's package; this code runs from src/ or from build/. */
function thisPackage(): { root: string; version: string } {
  for (let folder = path.dirname(fileURLToPath(import.meta.url)); ; folder = path.dirname(folder)) {
    const file = path.join(folder, 'package.json')
    const manifest = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {}
    if (manifest.name === 'keystride') return { root: folder, version: manifest.version }
    if (folder === path.dirname(folder))
      throw new Error('the migrations are missing: no package.json of keystride above')
  }
}
