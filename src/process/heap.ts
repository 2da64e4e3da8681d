import { setFlagsFromString } from 'node:v8'

/**
 * Growth of the old generation since the last collection that starts the next one, in percent. With 75 instead of 50, a verify
 * takes x 0.93 of the processor time of front and stores, and a process 7 MiB more memory. 100 instead of 75 saves no time and takes
 * 14 MiB more (one front, 64 connections, medians of 8 alternating rounds on two cores).
 */
const GROWTH_PERCENT = 75

/**
 * Semi-spaces of 16 MiB, the default on a machine with enough memory. With 8 MiB objects of many requests are promoted before
 * the answer, and collecting the old generation costs more: x 0.86 of the verifies a second at 64 connections, x 0.77 and
 * x 0.94 at 256 (two fronts on two cores, medians of 8 alternating rounds). The allocating thread collects alone: with as many
 * processes as cores, helper threads only compete with it (x 1.08 and x 1.04 without them).
 */
export const HEAP_FLAGS: readonly string[] = ['--max-semi-space-size=16', '--no-parallel-scavenge']

/**
 * One arena of the C library's allocator for all threads of a process. An arena for each thread takes about 10 MiB more and
 * was no faster (x 0.98 with one arena, 8 alternating rounds).
 */
export const ALLOCATOR: Readonly<Record<string, string>> = { MALLOC_ARENA_MAX: '1' }

/**
 * Keeps the heap small under load: by default a heap of 25 MiB may grow to four times that size between collections.
 * The engine reads this setting after each collection, so it takes effect after the start; `HEAP_FLAGS` does not.
 */
export function boundHeapGrowth(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`)
}
