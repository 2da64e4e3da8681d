#!/usr/bin/env node
// `npm test`: installs, builds and runs the suite; arguments are passed to vitest.
import { spawn } from 'node:child_process'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { prepare } from './prepare.mjs'

prepare()
const root = dirname(dirname(fileURLToPath(import.meta.url)))
const vitest = spawn(
  process.execPath,
  [join(root, 'node_modules/vitest/vitest.mjs'), 'run', ...process.argv.slice(2)],
  {
    cwd: root,
    stdio: 'inherit',
  },
)
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => vitest.kill(signal))
vitest.on('exit', (status, signal) => process.exit(status ?? (signal ? 1 : 0)))
