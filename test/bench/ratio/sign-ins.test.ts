import { describe, expect, it } from 'vitest'
import { signInLoops, signInOf } from '../../../bench/ratio/sign-in-loops.js'
import { signInsFor } from '../../../bench/ratio/sign-ins.js'
import type { Connection } from '../../../bench/shared/drive.js'

const HISTORIES = { people: 20, userRefOf: (n: number) => `p-${n}`, typistOf: (n: number) => n % 4, typedFrom: 1000 }

describe('the sign-ins of a bench', () => {
  it('are each person’s once before anyone’s again, and no typing comes twice', () => {
    const draw = signInsFor(HISTORIES)
    const [some, others] = [draw({ first: 0, people: 12 }), draw({ first: 12, people: 8 })]
    const drawn = [...some(7), ...some(5), ...others(8)]
    expect(new Set(drawn.map(({ userRef }) => userRef)).size).toBe(20)
    expect(others(3).every(({ userRef }) => Number(userRef.slice(2)) >= 12)).toBe(true)
    const typed = [...drawn, ...some(30)].map(({ typist, ordinal }) => `${typist} ${ordinal}`)
    expect(new Set(typed).size).toBe(typed.length)
  })
})

/** A pool of connections to a service that answers at the next turn of the event loop, a bootstrap with a session that names its connection. */
function poolOf(count: number, statusOf = (_: string) => 200) {
  const requests: { readonly on: number; readonly text: string }[] = []
  const free = Array.from({ length: count }, (_, on): Connection => {
    let busy = false
    return {
      ask(bytes, done) {
        if (busy) throw new Error('a connection has two requests')
        busy = true
        const text = bytes.toString()
        requests.push({ on, text })
        setImmediate(() => {
          busy = false
          done(statusOf(text), Buffer.from('{}'), `HTTP/1.1 200 OK\r\nX-Service-Session: from-${on}\r\nvary: *`)
        })
      },
      onLost() {},
      close() {},
    }
  })
  const take = () => {
    const [taken] = free.splice(Math.floor(Math.random() * free.length), 1)
    if (taken === undefined) throw new Error('no connection is free')
    return taken
  }
  return { pool: { take, giveBack: (connection: Connection) => void free.push(connection) }, requests }
}

const count = 40
/** Runs `count` sign-ins, two at once. */
async function run(statusOf?: (text: string) => number, rate: number | null = null) {
  const { pool, requests } = poolOf(4, statusOf)
  const statuses: number[] = []
  let [left, dry] = [count, 0]
  await signInLoops({
    pool,
    atOnce: 2,
    rate,
    until: Number.POSITIVE_INFINITY,
    next: () => (left-- > 0 ? signInOf('/core/users/ann', 'key', '{"a":1}') : undefined),
    note: (_, status) => statuses.push(status),
    dry: () => {
      dry += 1
    },
  })
  return { requests, statuses, dry }
}

describe('the loops of sign-ins', () => {
  it.each([null, 100_000])('verify in the session of the bootstrap, on any connection (rate %s)', async (rate) => {
    const { requests, statuses, dry } = await run(undefined, rate)
    expect(statuses).toEqual(new Array(count).fill(200))
    expect(dry).toBeGreaterThan(0)
    const verifies = requests.filter(({ text }) => text.startsWith('POST /core/users/ann/verify HTTP/1.1\r\n'))
    expect(verifies.length).toBe(count)
    expect(verifies.every(({ text }) => text.endsWith('\r\n\r\n{"a":1}'))).toBe(true)
    const begunOn = verifies.map(({ text }) => Number(/x-service-session: from-(\d)/.exec(text)?.[1]))
    expect(verifies.some(({ on }, i) => on === begunOn[i])).toBe(true)
    expect(verifies.some(({ on }, i) => on !== begunOn[i])).toBe(true)
  })

  it('count a bootstrap without 200, and do not verify after it', async () => {
    const { requests, statuses } = await run((text) => (text.startsWith('GET') ? 503 : 200))
    expect(statuses).toEqual(new Array(count).fill(503))
    expect(requests.some(({ text }) => text.startsWith('POST'))).toBe(false)
  })
})
