import { z } from 'zod'
import { BIOMETRIC_STATUSES, type ProfileView } from '../../domain/biometric-status.js'
import { PENDING_ACTIONS } from '../../domain/pending-action.js'
import { LANGUAGES } from '../../domain/typing-words.js'

/** Pieces of the wire that several core answers share (interface, Resources and their fields). */
export const AccountTypeField = z.enum(['nominative', 'generic'])
export const BiometricStatusField = z.enum(BIOMETRIC_STATUSES)
export const PendingActionField = z.enum(PENDING_ACTIONS)
export const ProfileUpdateField = z
  .object({ nPatternsReplaced: z.int(), nPatternsToReplace: z.int() })
  .nullable()
  .describe('how far a queued UPDATE_BIOMETRIC_PROFILE is; null where none is queued')
export const Words = {
  suggestedWords: z.array(z.string()).describe('words to propose in the typing widget: 40 key presses or more'),
  suggestedWordsLanguage: z.enum(LANGUAGES).describe('language code of the words'),
}
export const Counts = {
  nPatternsRef: z.int().describe('reference patterns held'),
  targetRefPatterns: z.int().describe('reference patterns required'),
  biometricStatus: BiometricStatusField,
}
export const countsOf = ({ nPatternsRef, targetRefPatterns, biometricStatus }: ProfileView) => ({
  nPatternsRef,
  targetRefPatterns,
  biometricStatus,
})
