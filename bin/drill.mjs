#!/usr/bin/env node
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { prepare } from './prepare.mjs'

/** The drills by the event that each rehearses. */
const DRILLS = {
  backup: 'A backup by pg_dump, and its verification',
  restore: 'The loss of the database: restore, erasures, and the first sign-in',
  rotation: 'A rotation of the encryption key',
}

const [name = '--help', ...options] = process.argv.slice(2)
if (name === '--help' || name === '-h') {
  const lines = Object.entries(DRILLS).map(([each, what]) => `  ${each.padEnd(8)}  ${what}`)
  process.stdout.write(`npm run drill -- NAME [options]; NAME --help lists the options\n\n${lines.join('\n')}\n`)
  process.exit(0)
}
if (!Object.hasOwn(DRILLS, name)) {
  process.stderr.write(`there is no drill ${JSON.stringify(name)}: npm run drill lists them\n`)
  process.exit(2)
}
prepare()
const file = fileURLToPath(new URL(`../build/bench/drill/${name}.js`, import.meta.url))
// Ctrl-C also reaches the drill, which removes its servers: this process waits until the drill ends.
const drill = spawn(process.execPath, [file, ...options], { stdio: 'inherit' })
process.on('SIGINT', () => {})
process.on('SIGTERM', () => drill.kill('SIGTERM'))
drill.on('exit', (status) => process.exit(status ?? 1))
