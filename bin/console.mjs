#!/usr/bin/env node
// Bundles the operators' console from src/console into build/console: a script for each language, one style, and the licences of the packages in them.
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
const LANGUAGES = ['en', 'fr', 'de', 'es', 'it', 'pt', 'nl']
const built = await Promise.all(LANGUAGES.map(buildIn))

/** One script a language, so that a browser loads one language. The style is the same in all. */
async function buildIn(language) {
  const texts = {
    name: 'texts of the language',
    setup({ onResolve }) {
      onResolve({ filter: /\/texts\/console\/en\.json$/ }, () => ({ path: at(`texts/console/${language}.json`) }))
    },
  }
  return await build({
    absWorkingDir: root,
    entryPoints: [
      { in: 'src/console/main.tsx', out: `console.${language}` },
      ...(language === 'en' ? [{ in: 'src/console/style.css', out: 'console' }] : []),
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
    define: { LANGUAGE: JSON.stringify(language) },
    plugins: [texts],
  })
}

const packages = built
  .flatMap(({ metafile }) => Object.keys(metafile.inputs))
  .flatMap((file) => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1] ?? [])
const notices = [...new Set(packages)].sort().map(noticeOf)
writeFileSync(at('build/console/licenses.txt'), `${notices.join(`\n${'-'.repeat(78)}\n\n`)}`)

/** Name, version and licence of a package, with its copyright notice. */
function noticeOf(name) {
  const { version, license } = JSON.parse(readFileSync(at('node_modules', name, 'package.json'), 'utf8'))
  return `${name}@${version} (${license})\n\n${readFileSync(at('node_modules', name, 'LICENSE'), 'utf8').trim()}\n`
}
