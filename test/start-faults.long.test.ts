import { once } from 'node:events'
import { createServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { keystrideWith } from './harness/command.js'
import { startChild } from './servers/child.js'
import { freshDatabase } from './servers/database.js'

const file = fileURLToPath(new URL('../bin/keystride.mjs', import.meta.url))
const key = (n: number) => Buffer.alloc(32, n).toString('base64')

/** The result of a failed start: its exit status and the fatal lines of its log. */
async function failed(env: Record<string, string>) {
  const service = startChild(process.execPath, [file, 'serve'], {
    env: { PATH: process.env.PATH ?? '', SCORING: 'inline', ...env },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  let output = ''
  service.stdout.on('data', (chunk) => (output += chunk))
  const [status] = await once(service, 'close')
  const lines = output.trim().split('\n')
  return { status, fatal: lines.map((line) => JSON.parse(line)).filter(({ level }) => level === 60) }
}

describe.each(['1', '2'])('a start that fails, with PROCESSES=%s,', (processes) => {
  it('names PORT if another process has it', async () => {
    const taken = createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    const address = taken.address()
    const port = typeof address === 'object' ? address?.port : 0
    const env = { DATABASE_URL: (await freshDatabase()).url, ENCRYPTION_KEY: key(1), PORT: String(port) }
    const { status, fatal } = await failed({ ...env, PROCESSES: processes })
    taken.close()
    expect(status).toBe(1)
    expect(fatal.map(({ msg }) => msg)).toEqual([expect.stringMatching(/^PORT: cannot listen on 127.0.0.1:\d+/)])
    expect(fatal[0].err).toBeUndefined()
  })

  it('names DATABASE_URL if no database answers', async () => {
    // No database listens on port 1.
    const url = 'postgres://nobody@127.0.0.1:1/none'
    const { status, fatal } = await failed({ DATABASE_URL: url, ENCRYPTION_KEY: key(1), PROCESSES: processes })
    expect([status, fatal.map(({ msg, err }) => [msg, err])]).toEqual([
      1,
      [['DATABASE_URL: no database answers (ECONNREFUSED)', undefined]],
    ])
  })

  it('names ENCRYPTION_KEY if the key of an organization is missing', async () => {
    const { url } = await freshDatabase()
    await keystrideWith({ DATABASE_URL: url, ENCRYPTION_KEY: key(1) })('organization', 'create', 'Acme')
    const { status, fatal } = await failed({ DATABASE_URL: url, ENCRYPTION_KEY: key(2), PROCESSES: processes })
    expect(status).toBe(1)
    expect(fatal.map(({ msg }) => msg)).toEqual([expect.stringMatching(/^encryption key missing: .*ENCRYPTION_KEY/)])
    expect(fatal[0].err).toBeUndefined()
  })
})
