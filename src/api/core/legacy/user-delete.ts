import type { Route } from '../../../http/route.js'
import type { CoreServices } from '../core-route.js'
import { deleteUser } from '../users.js'
import { LEGACY } from './leaving.js'

/** DELETE /users/{userRef} under its old path. */
export const userDelete: Route<CoreServices> = {
  ...deleteUser,
  path: '/user-delete/{userRef}',
  summary: 'Delete an account, under the old path',
  description: 'Use DELETE /users/{userRef}.',
  deprecated: { ...LEGACY, successor: '/users/{userRef}' },
}
