import { z } from 'zod'
import type { AttemptWindow } from '../../domain/attempts.js'
import type { SuggestedWords } from '../../flows/organization/suggested-words.js'
import { Words } from './shapes.js'

export const NextAttempt = z
  .object({
    mode: z.enum(['biometric', 'security_code', 'locked']),
    remainingBiometricAttempts: z.int(),
    remainingCodeAttempts: z.int(),
    retryAfterSeconds: z
      .int()
      .nullable()
      .describe(
        'seconds until a mode opens, in this session or a new one; with an open mode 0, or seconds until the lock of the ' +
          'refused mode ends; null if waiting does not help',
      ),
    ...Words,
  })
  .meta({ title: 'NextAttempt' })

export const nextAttempt = (next: AttemptWindow, words: SuggestedWords): z.infer<typeof NextAttempt> => ({
  mode: next.mode,
  remainingBiometricAttempts: next.remainingBiometricAttempts,
  remainingCodeAttempts: next.remainingCodeAttempts,
  retryAfterSeconds: next.retryAfterSeconds,
  ...words,
})
