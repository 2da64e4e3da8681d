#!/usr/bin/env node
import { spawnSync } from 'node:child_process'
// `npm run bench:<name> -- <options>`: the built bench of that name, built first where it is not.
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { prepare } from './prepare.mjs'

const [name = '', ...options] = process.argv.slice(2)
prepare()
const file = fileURLToPath(new URL(`../build/bench/${name}.js`, import.meta.url))
if (!existsSync(file)) {
  process.stderr.write(`there is no bench ${JSON.stringify(name)}: see bench/\n`)
  process.exit(1)
}
process.exit(spawnSync(process.execPath, [file, ...options], { stdio: 'inherit' }).status ?? 1)
