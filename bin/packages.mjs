#!/usr/bin/env node
// `node bin/packages.mjs NAME ...`: builds packages that customers install, each into its dist: modules by esbuild, types by tsc.
import { execFileSync } from 'node:child_process'
import { copyFileSync, cpSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const common = { absWorkingDir: root, bundle: true, format: 'esm', charset: 'utf8', legalComments: 'none' }
const browser = { ...common, minify: true, outdir: 'packages/recorder/dist' }

/** The bundles of each package. */
const PACKAGES = {
  recorder: [
    { ...browser, entryPoints: ['packages/recorder/src/recorder.ts'], target: 'es2020' },
    // The languages are entries of their own, so that a page loads one of them.
    {
      ...browser,
      entryPoints: [
        'packages/recorder/src/element.ts',
        ...['de', 'es', 'fr', 'it', 'nl', 'pt'].map((language) => `packages/recorder/src/texts/${language}.ts`),
      ],
      outbase: 'packages/recorder/src',
      splitting: true,
      target: 'es2022',
    },
  ],
  client: [
    { ...common, entryPoints: ['packages/client/src/client.ts'], outdir: 'packages/client/dist', target: 'es2022' },
  ],
  agent: [{ ...common, entryPoints: ['packages/agent/src/agent.ts'], outdir: 'packages/agent/dist', target: 'es2022' }],
}

for (const name of process.argv.slice(2)) {
  const at = (...parts) => join(root, 'packages', name, ...parts)
  rmSync(at('dist'), { recursive: true, force: true })
  if (name === 'client') node('bin/client-schema.mjs')
  node('node_modules/typescript/bin/tsc', '-p', at('tsconfig.json'))
  for (const bundle of PACKAGES[name]) await build({ ...bundle, logLevel: 'warning' })
  await buildCommonJs(name, at('dist'))
  // npm packs a licence from the package's own folder only.
  copyFileSync(join(root, 'LICENSE'), at('LICENSE'))
  if (name === 'recorder') serveElement()
  // Single sign-on calls the core API through the client.
  if (name === 'client') copyFileSync(at('dist/client.js'), join(root, 'build/client.js'))
}

/** Builds the entries and the types for `require`, which loads no ES modules before Node 20.19. */
async function buildCommonJs(name, dist) {
  const outdir = join(dist, 'cjs')
  const types = readdirSync(dist, { recursive: true }).filter((file) => file.endsWith('.d.ts'))
  for (const { splitting: _, entryPoints, ...bundle } of PACKAGES[name])
    await build({ ...bundle, entryPoints: entryPoints.slice(0, 1), outdir, format: 'cjs', logLevel: 'warning' })
  for (const file of types) cpSync(join(dist, file), join(outdir, file))
  writeFileSync(join(outdir, 'package.json'), '{ "type": "commonjs" }\n')
}

function node(script, ...args) {
  execFileSync(process.execPath, [join(root, script), ...args], { stdio: ['ignore', 2, 2] })
}

/** The service serves the element to its own pages. */
function serveElement() {
  for (const served of ['element.js', 'texts'])
    cpSync(join(root, 'packages/recorder/dist', served), join(root, 'build/web', served), {
      recursive: true,
      filter: (path) => !path.endsWith('.d.ts'),
    })
}
