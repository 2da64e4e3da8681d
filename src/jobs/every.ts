/** Periodic work outside of requests. */
export interface Job {
  /** Stops, and waits for the running round. */
  stop(): Promise<void>
}

interface JobNeeds {
  /** Resolves to true if more work is left; it is then called again at once. */
  readonly work: () => Promise<boolean>
  readonly everyMs: number
  readonly onError: (error: unknown) => void
}

/** Calls `work` at once and again `everyMs` after each round, never concurrently. After an error the next round retries. */
export function every({ work, everyMs, onError }: JobNeeds): Job {
  let stopped = false
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> = Promise.resolve()

  async function run(): Promise<void> {
    try {
      while (!stopped && (await work())) {
        // More is left.
      }
    } catch (error) {
      onError(error)
    }
    if (!stopped) timer = setTimeout(begin, everyMs).unref()
  }
  function begin(): void {
    running = run()
  }
  begin()
  return {
    stop() {
      stopped = true
      clearTimeout(timer)
      return running
    },
  }
}
