/** What an administrator may do to a person; the two in capitals wait for the person's next sign-in. */
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

/** Who asked for it. */
export interface ActedBy {
  readonly apiKeyId: string
  readonly requestId: string
}
