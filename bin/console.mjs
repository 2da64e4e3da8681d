#!/usr/bin/env node
// Bundles the operators' console from src/console into build/console: one script, one style, and the licences of the packages in them.
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const at = (...parts) => join(root, ...parts)

// esbuild removes types without checking them.
execFileSync(process.execPath, [at('node_modules/typescript/bin/tsc'), '-p', at('src/console/tsconfig.json')], {
  stdio: ['ignore', 2, 2],
})
const { metafile } = await build({
  absWorkingDir: root,
  entryPoints: [
    { in: 'src/console/main.tsx', out: 'console' },
    { in: 'src/console/style.css', out: 'console' },
  ],
  outdir: 'build/console',
  bundle: true,
  minify: true,
  format: 'esm',
  target: 'es2022',
  charset: 'utf8',
  jsx: 'automatic',
  jsxImportSource: 'preact',
  legalComments: 'none',
  metafile: true,
  logLevel: 'warning',
})
const packages = Object.keys(metafile.inputs).flatMap(
  (file) => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1] ?? [],
)
const notices = [...new Set(packages)].sort().map(noticeOf)
writeFileSync(at('build/console/licenses.txt'), `${notices.join(`\n${'-'.repeat(78)}\n\n`)}`)

/** Name, version and licence of a package, with its copyright notice. */
function noticeOf(name) {
  const { version, license } = JSON.parse(readFileSync(at('node_modules', name, 'package.json'), 'utf8'))
  return `${name}@${version} (${license})\n\n${readFileSync(at('node_modules', name, 'LICENSE'), 'utf8').trim()}\n`
}
