import type { Route } from '../http/route.js'
import type { LinkServices } from './links/link-route.js'
import { completeProfileLink, createProfileLink, resetProfileLink, revokeLinks } from './links/links.js'
import { typeByLink } from './links/typing-patterns.js'

/** Every endpoint of the profile-link API, in the order of its documentation. */
export const linkRoutes: readonly Route<LinkServices>[] = [
  createProfileLink,
  resetProfileLink,
  completeProfileLink,
  revokeLinks,
  typeByLink,
]

/** Description of each group of endpoints. */
export const linkGroups: Readonly<Record<string, string>> = {
  api: 'Links on which users register, reset or complete a biometric profile',
  'typing-patterns': 'The endpoint of the hosted page',
}
