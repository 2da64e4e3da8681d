import type { Route } from '../../../http/route.js'
import type { CoreServices } from '../core-route.js'
import { deleteUser } from '../users.js'
import { LEGACY } from './deprecation-dates.js'

export const userDelete: Route<CoreServices> = {
  ...deleteUser,
  path: '/user-delete/{userRef}',
  summary: 'Delete an account, under the former path',
  description: 'Use DELETE /users/{userRef} instead.',
  deprecated: { ...LEGACY, successor: '/users/{userRef}' },
}
