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

/**
 * Calls `work` at once and then every `everyMs`, never concurrently: a round that takes longer delays the next. After an error the next
 * round retries. `first` resolves after the first round, also if it failed.
 */
export function every({ work, everyMs, onError }: JobNeeds): Job & { readonly first: Promise<void> } {
  let stopped = false
  let running: Promise<void> | null = null

  async function run(): Promise<void> {
    try {
      while (!stopped && (await work())) {
        // More is left.
      }
    } catch (error) {
      onError(error)
    }
    running = null
  }
  function begin(): Promise<void> {
    running ??= run()
    return running
  }
  const timer = setInterval(begin, everyMs).unref()
  return {
    first: begin(),
    async stop() {
      stopped = true
      clearInterval(timer)
      await running
    },
  }
}
