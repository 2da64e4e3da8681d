/**
 * Lets at most `most` callers in per iteration of the event loop. Work that arrives in large groups, such as the calls whose replies a
 * store has sent at once, then leaves room for reading sockets in between, and a busy loop still hears its stores in time.
 */
export function createTickGate(most: number): () => Promise<void> {
  let entered = 0
  let tick: Promise<void> | null = null

  function nextTick(): Promise<void> {
    tick ??= new Promise((resolve) => {
      setImmediate(() => {
        tick = null
        entered = 0
        resolve()
      })
    })
    return tick
  }

  return async () => {
    while (entered >= most) await nextTick()
    if (entered === 0) void nextTick()
    entered += 1
  }
}
