// Installs, builds and starts the service. On the embedded PostgreSQL, `npm start` fills a new demo organization with a made-up month,
// `npm start -- --empty` does not; both offer a demo of single sign-on.
import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { prepare } from './prepare.mjs'

prepare()
const { env } = process
// Tests and benches start this script without npm, for the service alone. A process with an IPC channel serves for a supervisor.
const forPeople = env.npm_lifecycle_event === 'start' && process.send === undefined
const isDemo = forPeople && !env.DATABASE_URL && !env.DATABASE_URL_FILE
if (isDemo && !process.argv.includes('--empty')) env.DEMO ||= 'month'
const { start } = await import('../build/src/main.js')
await start(env)
if (isDemo && !env.SSO_FILE) fork(fileURLToPath(new URL('sso-demo.mjs', import.meta.url)))
