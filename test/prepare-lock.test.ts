import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { until } from './harness/patience.js'
import { startChild } from './servers/child.js'

const folder = mkdtempSync(join(tmpdir(), 'keystride-lock-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const file = join(folder, 'lock')

/** Arguments of a process that prints when it works under the lock, and for which process it waits. It runs `before` first. */
const script = (before = '') => [
  '--input-type=module',
  '--eval',
  `import { writeFileSync } from 'node:fs'
   import { alone } from ${JSON.stringify(new URL('../bin/lock.mjs', import.meta.url).href)}
   const file = ${JSON.stringify(file)}
   ${before}
   alone(file, () => console.log('works'), (pid) => console.log('waits for ' + pid))`,
]
const ran = (before?: string) => {
  const { status, stdout } = spawnSync(process.execPath, script(before), { encoding: 'utf8' })
  return { status, stdout, left: readdirSync(folder) }
}
const worked = { status: 0, stdout: 'works\n', left: [] }

describe('the lock of the preparation of a checkout', () => {
  it('is taken if no process has it, or a dead one, also one that had the same id, and is given back', () => {
    expect(ran()).toEqual(worked)
    writeFileSync(file, String(spawnSync('true').pid))
    expect(ran()).toEqual(worked)
    // The lock names the process's own id, as in a restarted container that was killed before.
    expect(ran('writeFileSync(file, String(process.pid))')).toEqual(worked)
  })

  it('is waited for while a process has it, and the wait is printed once', async () => {
    writeFileSync(file, String(process.pid))
    const waiting = startChild(process.execPath, script(), { stdio: ['ignore', 'pipe', 'inherit'] })
    let output = ''
    waiting.stdout.on('data', (chunk) => (output += chunk))
    const ended = once(waiting, 'exit')
    await until(async () => output !== '')
    rmSync(file)
    expect(await ended).toEqual([0, null])
    expect(output).toBe(`waits for ${process.pid}\nworks\n`)
  })
})
