/** What goes on outside of requests. */
export interface Job {
  /** Waits for what is under way. */
  stop(): Promise<void>
}

interface JobNeeds {
  /** True where there is more to do: then it is called again at once. */
  readonly work: () => Promise<boolean>
  readonly everyMs: number
  readonly onError: (error: unknown) => void
}

/** Calls `work` now and again, never twice at a time. An error waits for the next time. */
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
