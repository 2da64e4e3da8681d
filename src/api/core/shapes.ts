import { z } from 'zod'
import { BIOMETRIC_STATUSES, type ProfileView } from '../../domain/biometric-status.js'
import { PENDING_ACTIONS } from '../../domain/pending-action.js'
import { LANGUAGES } from '../../domain/typing-words.js'

/** Our choice: the wait follows from the policy's `enrollment`. */
export const RetryAfterField = z
  .number()
  .describe('seconds until the profile takes its next pattern by the policy; 0 if it takes one at once')

/** Fields that several core answers share (interface, Resources and their fields). */
export const AccountTypeField = z.enum(['nominative', 'generic'])
export const BiometricStatusField = z.enum(BIOMETRIC_STATUSES)
export const PendingActionField = z.enum(PENDING_ACTIONS)
export const ProfileUpdateField = z
  .object({ nPatternsReplaced: z.int(), nPatternsToReplace: z.int() })
  .nullable()
  .describe('progress of a queued UPDATE_BIOMETRIC_PROFILE; null if none is queued')
export const Words = {
  suggestedWords: z.array(z.string()).describe('words to show in the typing widget; they give at least 40 key presses'),
  suggestedWordsLanguage: z.enum(LANGUAGES).describe('language code of the suggested words'),
}
export const Counts = {
  nPatternsRef: z.int().describe('stored reference patterns'),
  targetRefPatterns: z.int().describe('reference patterns that complete the profile'),
  biometricStatus: BiometricStatusField,
}
export const countsOf = ({ nPatternsRef, targetRefPatterns, biometricStatus }: ProfileView) => ({
  nPatternsRef,
  targetRefPatterns,
  biometricStatus,
})
