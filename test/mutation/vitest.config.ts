import { defineConfig } from 'vitest/config'

/** The tests of the mutated files that need no server. They run once for each mutant. */
export default defineConfig({
  test: {
    root: new URL('../..', import.meta.url).pathname,
    include: [
      'test/domain/{attempts,attempts-model,profile-link,redirect-uri,security-code,user-ref}.test.ts',
      'test/trust/guessed-codes.test.ts',
    ],
    setupFiles: ['test/mutation/setup.ts'],
    testTimeout: 60_000,
  },
})
