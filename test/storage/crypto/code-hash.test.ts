import { readdirSync, readFileSync } from 'node:fs'
import { getPriority } from 'node:os'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { codeHashThreadFile } from '../../../src/scoring/artifacts.js'
import { createCodeHash, limited, restOf } from '../../../src/storage/crypto/code-hash-argon2.js'

const ada = { organizationId: 'o', memberId: 'ada' }
const made: ReturnType<typeof createCodeHash>[] = []
const codeHashOf = (pepperOf: () => Promise<Uint8Array>) => {
  const codeHash = createCodeHash({ pepperOf, threadFile: codeHashThreadFile() })
  made.push(codeHash)
  return codeHash
}
const peppers = (fill: number) => async () => new Uint8Array(32).fill(fill)
const codeHash = codeHashOf(peppers(7))
afterAll(() => Promise.all(made.map((one) => one.close())))

describe('code hash', () => {
  it('is argon2id with 19 MiB, 2 passes, 1 lane and a salt, and matches its code only', async () => {
    const [kept, again] = [await codeHash.hash(ada, '749205'), await codeHash.hash(ada, '749205')]
    expect(kept).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
    expect(again).not.toBe(kept)
    expect(await codeHash.matches(ada, '749205', kept)).toBe(true)
    expect(await codeHash.matches(ada, '749206', kept)).toBe(false)
  })

  it('matches for no other member, organization or pepper', async () => {
    const kept = await codeHash.hash(ada, '749205')
    expect(await codeHash.matches({ ...ada, memberId: 'bob' }, '749205', kept)).toBe(false)
    expect(await codeHash.matches({ ...ada, organizationId: 'p' }, '749205', kept)).toBe(false)
    const other = codeHashOf(peppers(8))
    expect(await other.matches(ada, '749205', kept)).toBe(false)
  })

  it('lowers the priority of its own threads only', async () => {
    await codeHash.hash(ada, '749205')
    const nice = (thread: string) =>
      Number(readFileSync(`/proc/self/task/${thread}/stat`, 'utf8').split(') ')[1]?.split(' ')[16])
    if (process.platform !== 'linux') return
    const priorities = readdirSync('/proc/self/task').map(nice)
    expect(nice(String(process.pid))).toBe(getPriority())
    expect(Math.min(...priorities)).toBe(getPriority())
    expect(Math.max(...priorities)).toBe(Math.min(19, getPriority() + 10))
  })

  it('reads the pepper of the organization, and computes nothing without one', async () => {
    const asked: string[] = []
    const bare = createCodeHash({
      pepperOf: (organizationId) => {
        asked.push(organizationId)
        return Promise.reject(new Error('no pepper'))
      },
      threadFile: codeHashThreadFile(),
    })
    made.push(bare)
    await expect(bare.matches(ada, '749205', null)).rejects.toThrow('no pepper')
    await expect(bare.hash(ada, '749205')).rejects.toThrow('no pepper')
    expect(asked).toEqual(['o', 'o'])
  })

  it('matches nothing without a code', async () => {
    expect(await codeHash.matches(ada, '918357', null)).toBe(false)
  })
})

describe('limited', () => {
  it('runs two at once, the others in order, and refuses beyond the queue', async () => {
    const inTurn = limited(2, 3)
    const done: (() => void)[] = []
    const begun: number[] = []
    const task = (n: number) =>
      inTurn(() => {
        begun.push(n)
        return new Promise<number>((resolve) => done.push(() => resolve(n)))
      })
    const tasks = [0, 1, 2, 3, 4].map(task)
    await expect(task(5)).rejects.toMatchObject({ kind: 'rate-limited', retryAfterS: 1 })
    expect(begun).toEqual([0, 1])
    for (let n = 0; n < 5; n++) {
      done[n]?.()
      expect(await tasks[n]).toBe(n)
    }
    expect(begun).toEqual([0, 1, 2, 3, 4])
    const more = task(6)
    done[5]?.()
    expect(await more).toBe(6)
  })

  it('hands over the place of a failed task', async () => {
    const inTurn = limited(1, 1)
    const [failed, after] = [inTurn(() => Promise.reject(new Error('no'))), inTurn(async () => 1)]
    await expect(failed).rejects.toThrow('no')
    expect(await after).toBe(1)
  })

  it('answers at once, and leaves the place empty during the rest', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout'] })
    try {
      const inTurn = limited(1, 1, () => 2000)
      let isNext = false
      expect(await inTurn(async () => 1)).toBe(1)
      const second = inTurn(async () => {
        isNext = true
      })
      await expect(inTurn(async () => 0)).rejects.toMatchObject({ kind: 'rate-limited' })
      await vi.advanceTimersByTimeAsync(1999)
      expect(isNext).toBe(false)
      await vi.advanceTimersByTimeAsync(1)
      await second
    } finally {
      vi.useRealTimers()
    }
  })
})

describe('rest after a hash', () => {
  it('is three times as long as the hash in a busy process, and zero in an idle one', () => {
    expect([0, 0.1875, 0.375, 1].map((busy) => restOf(() => busy)(20))).toEqual([0, 30, 60, 60])
  })

  it('does not grow with the time that a hash waited for a core', () => {
    expect([40, 20, 1000].map(restOf(() => 1))).toEqual([120, 60, 60])
  })
})
