// A lock between processes: a file with the process id of its holder.
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs'

/**
 * Runs `work` while this process holds the lock `file`. The lock of a dead process does not block. `onWait` is called once, with the
 * id of the holder, before a wait.
 */
export function alone(file, work, onWait) {
  const mine = `${file}.${process.pid}`
  writeFileSync(mine, String(process.pid))
  for (let waited = false; ; ) {
    try {
      linkSync(mine, file)
      break
    } catch (error) {
      if (error.code !== 'EEXIST') throw error
      const holder = holderOf(file)
      if (!isAlive(holder)) rmSync(file, { force: true })
      else {
        if (!waited) onWait(holder)
        waited = true
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200)
      }
    }
  }
  try {
    work()
  } finally {
    rmSync(file, { force: true })
    rmSync(mine, { force: true })
  }
}

/** The process id in a lock; 0 if the lock has just gone. */
function holderOf(file) {
  try {
    return Number(readFileSync(file, 'utf8'))
  } catch {
    return 0
  }
}

/** Whether the holder runs. This process holds no lock yet: in a container a killed process leaves a lock with the id that the next process gets. */
function isAlive(pid) {
  if (!(pid > 0) || pid === process.pid) return false
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return error.code === 'EPERM'
  }
}
