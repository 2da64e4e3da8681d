#!/usr/bin/env node
// `npm start`: everything from a clean clone to a serving process.
import { prepare } from './prepare.mjs'

prepare()
const { start } = await import('../build/src/main.js')
stopWithLauncher()
await start(process.env)

/**
 * npm runs a script in a shell that dies of a signal without passing it on: a service whose launcher is gone would go
 * on unseen. So under npm a new parent means stop.
 */
function stopWithLauncher() {
  const launcher = process.ppid
  if (process.env.npm_lifecycle_event === undefined) return
  const watch = setInterval(() => {
    if (process.ppid === launcher) return
    clearInterval(watch)
    process.kill(process.pid, 'SIGTERM')
  }, 250)
  watch.unref()
}
