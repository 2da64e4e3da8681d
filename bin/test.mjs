#!/usr/bin/env node
// `npm test`: installs, builds and runs tests. See --help.
import { spawn, spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { fromTests } from './from-tests.mjs'
import { prepare } from './prepare.mjs'

const HELP = `npm test [-- options] [files or folders]

Installs the packages, builds, and runs tests.

  npm test                     the short tests
  npm test -- test/flows       all tests of a folder, or of a file
  npm run test:long            all tests; those of the APIs and flows with and without Redis
  npm run test:ci              the short tests, the long tests of the folders that changed within CHANGE_HOURS (4) before the
                               last commit, and a third of the other long tests, by the number of commits

Every other option is one of vitest: --update, -t TITLE, --reporter NAME.
`
const root = dirname(dirname(fileURLToPath(import.meta.url)))
const given = process.argv.slice(2)
if (given.includes('--help')) {
  process.stdout.write(HELP)
  process.exit(0)
}
prepare()
const rest = given.filter((one) => one !== '--long' && one !== '--ci')
const isNamed = rest.some((one) => one.startsWith('test'))
if (given.includes('--ci')) {
  await vitest('--project', 'short', ...rest)
  await vitest('--project', 'long', ...rest, ...(await longTestsInTurn()))
} else if (given.includes('--long')) await vitest(...rest)
else if (isNamed) await vitest('--project', 'short', '--project', 'long', ...rest)
else await vitest('--project', 'short', ...rest)

/** Runs vitest to its end; ends this process if a test failed. */
async function vitest(...args) {
  const child = spawn(process.execPath, [join(root, 'node_modules/vitest/vitest.mjs'), 'run', ...args], {
    cwd: root,
    stdio: 'inherit',
  })
  const pass = (signal) => child.kill(signal)
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, pass)
  const status = await new Promise((resolve) => child.on('exit', (code, signal) => resolve(code ?? (signal ? 1 : 0))))
  for (const signal of ['SIGINT', 'SIGTERM']) process.off(signal, pass)
  if (status !== 0) process.exit(status)
}

async function longTestsInTurn() {
  const { longTests } = await fromTests('long-tests')
  const { LAYERS } = await fromTests('layers')
  const git = (...args) => spawnSync('git', args, { cwd: root, encoding: 'utf8' }).stdout.trim()
  const hours = Number(process.env.CHANGE_HOURS ?? 4)
  const before = Number(git('log', '-1', '--format=%ct')) - hours * 3600
  // Without an older commit the change is the whole repository.
  const base = git('rev-list', '-1', `--before=${before}`, 'HEAD') || '4b825dc642cb6eb9a060e54bf8d69288fbee4904'
  const { chosen, left, folders } = longTests({
    files: readdirSync(join(root, 'test'), { recursive: true }).map((name) => `test/${name}`),
    changed: git('diff', '--name-only', base, 'HEAD').split('\n').filter(Boolean),
    commits: Number(git('rev-list', '--count', 'HEAD')),
    layers: LAYERS,
  })
  process.stdout.write(
    `${chosen.length} long tests, ${left.length} left to other runs. Changed since ${base.slice(0, 9)}: ${folders.join(', ') || 'no folder with long tests'}\n`,
  )
  return chosen
}
