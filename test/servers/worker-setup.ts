/**
 * A worker ends when the main process of vitest dies, and its servers die with it (`child.ts`). Without this a worker whose
 * main process was killed runs its tests to the end.
 */
const guarded = globalThis as { diesWithMain?: true }
if (guarded.diesWithMain === undefined) {
  guarded.diesWithMain = true
  process.once('disconnect', () => process.kill(process.pid, 'SIGKILL'))
}
