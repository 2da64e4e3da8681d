import fc from 'fast-check'
import { it } from 'vitest'
import { agreement, lateAgreement } from './attempts-played.js'

it('the rules of attempts agree with the oracle in thirty thousand runs', { timeout: 1_000_000 }, () => {
  const run = { numRuns: 30_000, seed: 2 }
  fc.assert(agreement, run)
  fc.assert(lateAgreement, run)
})
