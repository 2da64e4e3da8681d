import { defineConfig, mergeConfig } from 'vitest/config'
import every from '../../vitest.config.js'

/** The suite's own, with figures gathered. */
export default mergeConfig(
  every,
  defineConfig({ test: { root: new URL('../..', import.meta.url).pathname, setupFiles: ['test/trust/each-file.ts'] } }),
)
