import type { Route } from '../../http/route.js'
import type { LinkServices } from './link-route.js'
import { completeProfileLink, createProfileLink, resetProfileLink, revokeLinks } from './links.js'
import { typeByLink } from './typing-patterns.js'

/** Every endpoint of the profile-link API, in the order of its documentation. */
export const linkRoutes: readonly Route<LinkServices>[] = [
  createProfileLink,
  resetProfileLink,
  completeProfileLink,
  revokeLinks,
  typeByLink,
]
