import { configDefaults, defineConfig } from 'vitest/config'

/**
 * `npm test` is what a person waits for. Tests that need length are left out: services killed, frozen and cut off, the attacks
 * of docs/trust.md, load generated, packages installed, types compiled, plans of filled tables, and suites that repeat on the
 * second back end (test/service.ts).
 * They run with KEYSTRIDE_TESTS=all, and if named on the command line.
 */
const LONG = [
  'faults/**',
  'trust/**',
  'bench/load/**',
  'calibration/adaptation.test.ts',
  'package.test.ts',
  'api/client.test.ts',
  'storage/postgres/embedded/**',
  'storage/postgres/hot-plans.test.ts',
]
const isNamed = process.argv.slice(2).some((argument) => argument.startsWith('test/'))
if (isNamed) process.env.KEYSTRIDE_TESTS = 'all'
const isWhole = process.env.KEYSTRIDE_TESTS === 'all'
const long = LONG.map((path) => `test/${path}`)

export default defineConfig({
  test: {
    globalSetup: ['test/servers/global-setup.ts'],
    testTimeout: 30_000,
    // A machine that others share stands still for a second now and then. What such a pause does to a test, a store taken for
    // slow or a time that is too long, is tried once more, and the report says so. What is lost, miscounted or let through is not.
    retry: {
      count: 1,
      condition:
        /try again later: the|timed out in \d+ms|NOK within 1 s|: (NOK after|OK again after|p99 of (every|\d+) 503s?|slowest) |of the 503s in 50 ms/,
    },
    hookTimeout: 60_000,
    pool: 'forks',
    projects: [
      {
        extends: true,
        test: {
          name: 'short',
          include: ['test/**/*.test.ts'],
          exclude: [...configDefaults.exclude, ...long],
          // Loading the modules anew for each file takes a fifth of the processor time of these tests.
          isolate: false,
          // Many of them wait for servers and browsers.
          maxWorkers: 3,
          sequence: { groupOrder: 0 },
        },
      },
      ...(isWhole
        ? [
            {
              extends: true as const,
              test: {
                name: 'long',
                include: long.map((path) => path.replace(/\*\*$/, '**/*.test.ts')),
                // Those that measure how long a fault lasts need the cores.
                maxWorkers: 2,
                sequence: { groupOrder: 1 },
              },
            },
          ]
        : []),
    ],
  },
})
