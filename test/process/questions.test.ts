import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createQuestions } from '../../src/process/questions.js'

type Message = { readonly kind: 'age'; readonly id: number; readonly years: number } | { readonly kind: 'hello' }

describe('questions to another process', () => {
  beforeEach(() => {
    vi.useFakeTimers()
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  it('are answered by kind and id, in any order', async () => {
    const { ask, hear } = createQuestions<Message | { readonly kind: 'name'; readonly id: number }>()
    const ids: number[] = []
    const answers = Array.from({ length: 3 }, () => ask('age', (id) => ids.push(id), 1000))
    hear({ kind: 'hello' })
    for (const id of ids) hear({ kind: 'name', id })
    for (const id of ids.toReversed()) hear({ kind: 'age', id, years: 10 * id })
    expect((await Promise.all(answers)).map((answer) => answer?.years)).toEqual(ids.map((id) => 10 * id))
    expect(vi.getTimerCount()).toBe(0)
  })

  it('have the answer null if none comes in time, and after a failure to send', async () => {
    const { ask, hear } = createQuestions<Message>()
    let lateId = -1
    const late = ask('age', (id) => (lateId = id), 1000)
    const unsent = ask('age', (_, failed) => failed(), 1000)
    expect(await unsent).toBeNull()
    vi.advanceTimersByTime(1000)
    expect(await late).toBeNull()
    hear({ kind: 'age', id: lateId, years: 1 })
  })
})
