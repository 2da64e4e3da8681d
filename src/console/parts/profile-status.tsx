import { t } from '../texts.js'
import type { ProfileStatus } from '../users.js'
import { Badge } from './badge.js'

const TONES = {
  'not-ready': 'plain',
  'in-progress': 'warn',
  ok: 'good',
  full: 'good',
  reset: 'plain',
  expired: 'warn',
} as const

/** The state of a biometric profile. */
export const ProfileBadge = ({ status }: { readonly status: ProfileStatus }) => (
  <Badge tone={TONES[status]}>{t.profile[status]}</Badge>
)
