const LOOK_MS = 50
/** A task takes 1 ms, or 20 ms with the largest body. One that has taken 400 ms (8 x 50) does not end, even on an overloaded machine. */
const TASK_LOOKS_MAX = 8
/** Loading kernel and model takes 0.2 s. A thread that has not begun after 10 s (200 x 50 ms) counts as stuck. */
const BOOT_LOOKS_MAX = 200

/** A batch that a worker runs. */
export interface Run {
  /** Set by the worker: its current task, counted from 1 (0 before the first), and its kernel's memory in bytes. */
  readonly progress: Int32Array
  readonly ending: AbortController
  seenAt: number
  looks: number
}

/** Aborts runs that make no progress. Its timer runs only while a batch does. */
export function createPoolWatchdog() {
  const running = new Set<Run>()
  let timer: NodeJS.Timeout | null = null

  function checkProgress(): void {
    if (running.size === 0) stop()
    for (const run of running) {
      const at = Atomics.load(run.progress, 0)
      run.looks = at === run.seenAt ? run.looks + 1 : 0
      run.seenAt = at
      if (run.looks >= (at === 0 ? BOOT_LOOKS_MAX : TASK_LOOKS_MAX)) run.ending.abort('no progress')
    }
  }

  function stop(): void {
    if (timer !== null) clearInterval(timer)
    timer = null
  }

  return {
    running: () => running.size,
    begin(): Run {
      const progress = new Int32Array(new SharedArrayBuffer(8))
      const run = { progress, ending: new AbortController(), seenAt: 0, looks: 0 }
      running.add(run)
      timer ??= setInterval(checkProgress, LOOK_MS).unref()
      return run
    },
    end: (run: Run) => running.delete(run),
    stop,
  }
}
