import { afterEach, describe, expect, it, vi } from 'vitest'
import { ask, rawClient, request } from '../harness/raw.js'
import { goodKey, type Running, start, stop } from './table.js'

const key = `apikey: ${goodKey}`

/** Resolves at the next event-loop iteration in which `holds` does. */
async function when(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve))
}

async function withServer(run: (running: Running) => Promise<void>): Promise<void> {
  const running = await start()
  try {
    await run(running)
  } finally {
    running.gate.open()
    await stop(running)
  }
}

describe('clients that disconnect', () => {
  it('at any byte of any request leave no request in flight and the server running', async () => {
    await withServer(async (running) => {
      const { port } = running.server
      const texts = [
        request('GET /core/users/ann', [key]),
        request('PUT /core/words', [key], '{"word":"ok"}'),
        request('POST /core/users/ann/typing-patterns', [key, 'X-Service-Session: s'], 'x'.repeat(300)),
        `${request('PUT /core/words', [key, 'Transfer-Encoding: chunked'])}5\r\nhello\r\n0\r\n\r\n`,
        request('DELETE /core/words/bug', [key]),
      ]
      // A linear congruential generator with a fixed seed: the same offsets in every run.
      let seed = 7
      for (let i = 0; i < 500; i++) {
        seed = (seed * 1103515245 + 12345) % 2147483648
        const text = texts[i % texts.length] ?? ''
        const client = await rawClient(port)
        await client.send(text.slice(0, seed % (text.length + 1)))
        if (i % 2 === 0) client.socket.resetAndDestroy()
        else client.socket.destroy()
      }
      await when(() => running.server.inFlight() === 0)
      expect((await ask(port, request('GET /core/status')))?.status).toBe(200)
    })
  })
  it('while the handler works are counted as aborted, once', async () => {
    await withServer(async (running) => {
      const client = await rawClient(running.server.port)
      await client.send(request('GET /core/held', [key]))
      await when(() => running.server.inFlight() === 1)
      client.socket.resetAndDestroy()
      await client.ended
      // The server has seen the reset once it serves a connection made after it.
      await ask(running.server.port, request('GET /core/status'))
      running.gate.open()
      await when(() => running.server.inFlight() === 0)
      const held = running.answers.filter(({ route }) => route === '/held')
      expect(held).toMatchObject([{ aborted: true, status: 200 }])
    })
  })
})

describe('a handler that does not end', () => {
  it('is answered with 503 at the deadline; its later reply is dropped', async () => {
    const running = await start({ answerDeadlineMs: 50 })
    const { port } = running.server
    const answer = await ask(port, request('GET /core/held', [key]))
    expect(answer?.status).toBe(503)
    expect(answer?.headers.get('retry-after')).toBe('2')
    expect(running.server.inFlight()).toBe(0)
    running.gate.open()
    expect((await ask(port, request('GET /core/status')))?.status).toBe(200)
    expect(running.answers.map(({ status }) => status)).toEqual([503, 200])
    await stop(running)
  })
})

describe('closing', () => {
  afterEach(() => vi.useRealTimers())

  it('answers requests in flight, closes open connections with their next answer, and accepts no new one', async () => {
    const running = await start()
    const { port } = running.server
    const held = await rawClient(port)
    const idle = await rawClient(port)
    await idle.send(request('GET /core/status'))
    expect((await idle.answers(1))[0]?.headers.get('connection')).not.toBe('close')
    await held.send(request('GET /core/held', [key]))
    await when(() => running.server.inFlight() === 1)

    let closed = false
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const closing = running.server.close({ lingerMs: 2_000, deadlineMs: 20_000 }).then(() => {
      closed = true
    })
    await idle.send(request('GET /core/status'))
    expect((await idle.answers(2))[1]?.headers.get('connection')).toBe('close')
    await idle.ended
    await expect(rawClient(port)).rejects.toThrow('ECONNREFUSED')

    await vi.advanceTimersByTimeAsync(2_000)
    expect(closed).toBe(false)
    running.gate.open()
    const [answer] = await held.answers(1)
    expect(answer?.status).toBe(200)
    expect(answer?.headers.get('connection')).toBe('close')
    await closing
    expect(running.server.inFlight()).toBe(0)
  })
  it('aborts requests in flight at the deadline', async () => {
    const running = await start()
    const held = await rawClient(running.server.port)
    await held.send(request('GET /core/held', [key]))
    await when(() => running.server.inFlight() === 1)
    await running.server.close({ lingerMs: 0, deadlineMs: 20 })
    await held.ended
    running.gate.open()
    await when(() => running.server.inFlight() === 0)
    expect(running.answers).toMatchObject([{ route: '/held', aborted: true }])
  })
  it('is idempotent', async () => {
    const running = await start()
    expect(running.server.close({ lingerMs: 0 })).toBe(running.server.close())
    await running.server.close()
  })
})

describe('listening', () => {
  it('on a taken port fails with an error that names the port', async () => {
    await withServer(async (running) => {
      await expect(start({ port: running.server.port })).rejects.toThrow(`127.0.0.1:${running.server.port}`)
    })
  })
})
