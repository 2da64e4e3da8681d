import { writeFileSync } from 'node:fs'
import { Session } from 'node:inspector'
import { isMainThread } from 'node:worker_threads'

/**
 * Imported into a service by `--import`: the first SIGUSR2 starts a sampling profile of its main thread, the second one
 * writes the profile to the file `KEYSTRIDE_PROFILE`.
 */
const file = process.env.KEYSTRIDE_PROFILE
/** Time between samples, µs. */
const INTERVAL_US = 250

let session: Session | null = null
if (isMainThread && file !== undefined)
  process.on('SIGUSR2', () => {
    if (session === null) {
      session = new Session()
      session.connect()
      session.post('Profiler.enable')
      session.post('Profiler.setSamplingInterval', { interval: INTERVAL_US })
      session.post('Profiler.start')
      return
    }
    const ended = session
    session = null
    ended.post('Profiler.stop', (error, found) => {
      if (error !== null) throw error
      writeFileSync(file, JSON.stringify(found.profile))
      ended.disconnect()
    })
  })
