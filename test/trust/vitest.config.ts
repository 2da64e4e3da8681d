import { defineConfig, mergeConfig } from 'vitest/config'
import every from '../../vitest.config.js'

/** The configuration of the suite, with figures collected. */
export default mergeConfig(
  every,
  defineConfig({ test: { root: new URL('../..', import.meta.url).pathname, setupFiles: ['test/trust/each-file.ts'] } }),
)
