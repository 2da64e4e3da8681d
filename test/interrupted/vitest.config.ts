import { defineConfig, mergeConfig } from 'vitest/config'
import every from '../../vitest.config.js'

const { projects: _, ...suite } = every.test ?? {}

/** One test that never ends, with the servers of the suite. */
export default mergeConfig(
  { test: suite },
  defineConfig({
    test: { root: new URL('../..', import.meta.url).pathname, include: ['test/interrupted/endless.ts'] },
  }),
)
