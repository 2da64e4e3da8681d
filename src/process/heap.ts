import { setFlagsFromString } from 'node:v8'

/** Percent that the old generation may grow beyond what the last collection left before it is collected again. */
const GROWTH_PERCENT = 50

/**
 * Halves of the young generation of 16 MiB, the default where memory is plenty. With 8 MiB many requests outlive it before
 * they are answered, and collecting the old costs more: verifies a second x 0.86 of this at 64 connections, x 0.77 and
 * x 0.94 at 256 (two fronts on two cores, medians of 8 rounds taking turns). Collected by the thread that allocates: where
 * there are as many processes as cores, helpers only take turns with it (x 1.08 and x 1.04).
 */
export const HEAP_FLAGS: readonly string[] = ['--max-semi-space-size=16', '--no-parallel-scavenge']

/**
 * Of the C library's allocator: one arena for all threads of a process. An arena for each of them keeps some 10 MiB more, and
 * was no faster (x 0.98 with one, 8 rounds taking turns).
 */
export const ALLOCATOR: Readonly<Record<string, string>> = { MALLOC_ARENA_MAX: '1' }

/**
 * Keeps a process small under load: left to itself, the engine lets a heap of 25 MiB grow to four times that between
 * collections. It reads this setting at the end of each, so that it may come after the start; `HEAP_FLAGS` may not.
 */
export function boundHeapGrowth(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`)
}
