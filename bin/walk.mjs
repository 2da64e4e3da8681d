#!/usr/bin/env node
// `npm run walk [-- COMMAND...]`: starts a service on an empty database, runs `keystride walk` against it, then the command, with
// CORE_URL, AUTH_URL, DASHBOARD_URL and API_KEY in its environment, and stops the service. Status 1 if either fails.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { prepare } from './prepare.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const command = process.argv.slice(2)
prepare()
const { freePort } = await import('../build/src/storage/postgres/embedded/embedded-running.js')

const KEYSTRIDE_DATA = mkdtempSync(join(tmpdir(), 'keystride-walk-'))
const demo = join(KEYSTRIDE_DATA, 'demo.json')
const url = `http://localhost:${await freePort()}`
const env = { ...process.env, KEYSTRIDE_DATA, PORT: new URL(url).port }
const service = spawn(process.execPath, [join(root, 'bin/start.mjs')], { env, stdio: ['ignore', 'pipe', 'pipe'] })
const ended = once(service, 'exit')
let output = ''
for (const stream of [service.stdout, service.stderr])
  stream.on('data', (chunk) => {
    output += chunk
  })
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => service.kill(signal))

let passed = false
try {
  await serves()
  const { apikey } = JSON.parse(readFileSync(demo, 'utf8'))
  const urls = { CORE_URL: `${url}/core`, AUTH_URL: `${url}/auth`, DASHBOARD_URL: `${url}/dashboard`, API_KEY: apikey }
  const walked = run(process.execPath, [join(root, 'bin/keystride.mjs'), 'walk', '--url', url], env)
  passed = (command.length === 0 || run(command[0], command.slice(1), { ...env, ...urls })) && walked
} catch (error) {
  process.stderr.write(`${error.message}\n`)
} finally {
  service.kill('SIGTERM')
  await ended
  if (!passed) process.stderr.write(`the service printed:\n${output}`)
  rmSync(KEYSTRIDE_DATA, { recursive: true, force: true })
}
process.exit(passed ? 0 : 1)

function run(program, args, environment) {
  return spawnSync(program, args, { env: environment, stdio: 'inherit' }).status === 0
}

/** Resolves when the service answers and has written its demo key; throws if it has ended. */
async function serves() {
  while (service.exitCode === null && service.signalCode === null) {
    const answer = await fetch(`${url}/core/status`).catch(() => null)
    if (answer?.ok && existsSync(demo)) return
    await delay(100)
  }
  throw new Error('the service ended before it served')
}
