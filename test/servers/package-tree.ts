import { spawnSync } from 'node:child_process'
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { productionTree } from '../../src/cli/sbom.js'

const root = fileURLToPath(new URL('../..', import.meta.url))

/**
 * A temporary folder with these files of the repository, its build and its production packages, owned by root and readable by
 * everyone. Packages are hard links if possible.
 */
export function packageTree(files: readonly string[]): string {
  const place = mkdtempSync(join(tmpdir(), 'keystride-tree-'))
  chmodSync(place, 0o755)
  for (const file of [...files, 'build']) {
    mkdirSync(dirname(join(place, file)), { recursive: true })
    cpSync(join(root, file), join(place, file), { recursive: true })
  }
  const packages = productionTree(JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')))
    .map(([path]) => path)
    .filter((path) => path.split('node_modules/').length === 2 && existsSync(join(root, path)))
  for (const path of packages) {
    mkdirSync(dirname(join(place, path)), { recursive: true })
    const linked = spawnSync('cp', ['-al', join(root, path), join(place, path)])
    if (linked.status !== 0) cpSync(join(root, path), join(place, path), { recursive: true, force: true })
  }
  return place
}
