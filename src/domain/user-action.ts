/** Actions of an administrator on a person; the two in capitals wait for the person's next sign-in. */
export const USER_ACTIONS = [
  'lock',
  'unlock',
  'reset-profile',
  'clear-security-code',
  'RESET_BIOMETRIC_PROFILE',
  'UPDATE_BIOMETRIC_PROFILE',
  'clear-pending-action',
] as const
export type UserAction = (typeof USER_ACTIONS)[number]

/** Origin of an action. */
export interface ActedBy {
  readonly apiKeyId: string
  readonly requestId: string
}
