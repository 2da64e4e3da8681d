import { z } from 'zod'
import type { Counted } from '../../flows/insight/series.js'

const Mean = z.number().nullable().describe('mean; null without values')

/** Counters and means of a set of attempts, on the wire. */
export const CountedFields = {
  n: z.int(),
  authenticated: z.int(),
  challenged: z.int(),
  blocked: z.int(),
  confidence: Mean,
  confidence_biometrics: Mean,
  confidence_context: Mean,
}

export const countedFields = (one: Counted) => ({
  n: one.n,
  authenticated: one.nAuthenticated,
  challenged: one.nChallenged,
  blocked: one.nBlocked,
  confidence: one.confidence,
  confidence_biometrics: one.confidenceBiometrics,
  confidence_context: one.confidenceContext,
})
