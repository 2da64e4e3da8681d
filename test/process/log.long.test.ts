import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { expect, it } from 'vitest'
import { startChild } from '../servers/child.js'

const LINES = 400
const CHILD = `
  import { spawnSync } from 'node:child_process'
  import { jsonLog } from '${new URL('../../build/src/process/log.js', import.meta.url)}'
  const log = jsonLog('info')
  // A child that ends makes the output that it shares block.
  spawnSync(process.execPath, ['-e', 'process.stdout'], { stdio: 'inherit' })
  for (let n = 0; n < ${LINES}; n++) log.info({ n }, 'x'.repeat(3000))
  process.on('message', () => setInterval(() => log.info('after'), 10))
  process.send('logged')`

it('a log into a pipe that no one reads does not stop the process, and has only whole lines', async () => {
  const child = startChild(process.execPath, ['--input-type=module', '-e', CHILD], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
  // Sound: its standard output is a pipe.
  const output = child.stdout as Readable
  expect(await Promise.race([once(child, 'message'), once(child, 'exit')])).toEqual(['logged', undefined])
  child.send('go on')
  let text = ''
  for await (const chunk of output.setEncoding('utf8')) {
    text += chunk
    if (text.includes('"after"}\n')) break
  }
  child.kill('SIGKILL')
  const lines = text.split('\n').slice(0, -1)
  const numbers = lines.map((line) => JSON.parse(line).n).filter((n) => n !== undefined)
  expect(numbers).toEqual(numbers.map((_, n) => n))
  expect(numbers.length).toBeGreaterThan(0)
  expect(numbers.length).toBeLessThan(LINES)
})
