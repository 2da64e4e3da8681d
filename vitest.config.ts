import { availableParallelism } from 'node:os'
import { configDefaults, defineConfig } from 'vitest/config'

/** Suites that depend on where sessions and counters are kept: they run again without Redis. */
const STORE_DEPENDENT = ['test/api/**/*.test.ts']
const LONG = 'test/**/*.long.test.ts'

/**
 * `npm test` runs the project `short`. `npm run test:long` runs all three. `.ci/run` runs a part of `long`
 * (`bin/test.mjs`), and `without-redis` with the other HTTP server. A test that needs a browser, a service or a server of its own, or much processor time, is in a file
 * `*.long.test.ts`.
 */
const PROJECTS = [
  // To load the modules anew for each file takes a fifth of the processor time of the short tests.
  { name: 'short', include: ['test/**/*.test.ts'], exclude: [LONG], isolate: false },
  { name: 'without-redis', include: STORE_DEPENDENT, exclude: [LONG], isolate: false },
  { name: 'long', include: [LONG], exclude: [], isolate: true },
]

export default defineConfig({
  test: {
    projects: PROJECTS.map(({ exclude, ...project }, groupOrder) => ({
      extends: true,
      test: { ...project, exclude: [...configDefaults.exclude, ...exclude], sequence: { groupOrder } },
    })),
    globalSetup: ['test/servers/global-setup.ts'],
    setupFiles: ['test/servers/worker-setup.ts'],
    // The time limits only end a test that hangs. A test never measures how fast the machine is.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
    maxWorkers: Math.max(2, Math.min(4, Math.floor(availableParallelism() / 2))),
    pool: 'forks',
  },
})
