import { configDefaults, defineConfig } from 'vitest/config'

/**
 * `npm test` is what a person waits for. Tests that need length are left out: services killed, frozen and cut off, upgrades,
 * the attacks of docs/trust.md, the views of the console, units started and the service traced, load generated, drills, the checks of the
 * doctor, queries of the dashboard for Grafana and changed alert rules, packages installed, types compiled, plans of filled
 * tables, and suites that repeat on the second back end (test/service.ts).
 * They run with KEYSTRIDE_TESTS=all, and if named on the command line.
 */
const LONG = [
  'faults/**/*.test.ts',
  'trust/**/*.test.ts',
  'upgrade/**/*.test.ts',
  'console/!(console).test.ts',
  'deploy/pod.test.ts',
  'deploy/system-calls.test.ts',
  'deploy/systemd-running.test.ts',
  'bench/load/**/*.test.ts',
  'bench/drill.test.ts',
  'cli/doctor*.test.ts',
  'calibration/adaptation.test.ts',
  'monitoring/!(dashboard|rules).test.ts',
  'package.test.ts',
  'packages/client-types.test.ts',
  'packages/tarballs.test.ts',
  'packages/examples.test.ts',
  'storage/postgres/embedded/**/*.test.ts',
  'storage/postgres/hot-plans.test.ts',
]
const isNamed = process.argv.slice(2).some((argument) => argument.startsWith('test/'))
if (isNamed) process.env.KEYSTRIDE_TESTS = 'all'
const isWhole = process.env.KEYSTRIDE_TESTS === 'all'

/** The short tests, then the long ones, which measure how long a fault lasts and need the cores. */
const SUITES = [
  // To load the modules anew for each file takes a fifth of the processor time of the short tests.
  { name: 'short', exclude: LONG, isolate: false, maxWorkers: isWhole ? 2 : 3 },
  ...(isWhole ? [{ name: 'long', include: LONG, isolate: true, maxWorkers: 2 }] : []),
]
const inTest = (paths: readonly string[]) => paths.map((path) => `test/${path}`)

export default defineConfig({
  test: {
    projects: SUITES.map(({ include = ['**/*.test.ts'], exclude = [], ...suite }, groupOrder) => ({
      extends: true,
      test: {
        ...suite,
        include: inTest(include),
        exclude: [...configDefaults.exclude, ...inTest(exclude)],
        sequence: { groupOrder },
      },
    })),
    globalSetup: ['test/servers/global-setup.ts'],
    testTimeout: 120_000,
    // A machine that others share stands still for a second now and then. What such a pause does to a test, a store taken for
    // slow or a time that is too long, is tried once more, and the report says so. What is lost, miscounted or let through is not.
    retry: {
      count: 1,
      condition:
        /try again later: the|timed out in \d+ms|NOK within 1 s|: (NOK after|OK again after|p99 of (every|\d+) 503s?|slowest) |of the 503s in 50 ms|of \d+ refused, p99 of all|not so within \d+ ms/,
    },
    hookTimeout: 180_000,
    expect: { poll: { timeout: 20_000 } },
    pool: 'forks',
  },
})
