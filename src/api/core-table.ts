import type { Route } from '../http/route.js'
import type { CoreServices } from './core/core-route.js'
import { feedback } from './core/legacy/feedback.js'
import { userAction } from './core/legacy/user-action.js'
import { userDelete } from './core/legacy/user-delete.js'
import { userVerify } from './core/legacy/user-verify.js'
import { changeUser, clearDisplayNames, listMembers } from './core/members.js'
import { organizationInfo } from './core/organization.js'
import { changeOrganizationLanguage, organizationLanguage } from './core/organization-language.js'
import { clearPendingAction, queuePendingAction } from './core/pending-action.js'
import { preferLanguage } from './core/preferred-language.js'
import { chooseSecurityCode, clearSecurityCode, issueSecurityCode } from './core/security-code.js'
import { status } from './core/status.js'
import { deletePattern, enrollPattern, resetProfile } from './core/typing-patterns.js'
import {
  addTypingWord,
  changeTypingWord,
  deleteTypingWord,
  listTypingWords,
  wordLanguages,
} from './core/typing-words.js'
import { bootstrapUser, createUser, deleteUser } from './core/users.js'
import { verifyUser } from './core/verify.js'

/** Every endpoint of the core API, in the order of its documentation. */
export const coreRoutes: readonly Route<CoreServices>[] = [
  status,
  bootstrapUser,
  createUser,
  changeUser,
  deleteUser,
  listMembers,
  enrollPattern,
  resetProfile,
  deletePattern,
  verifyUser,
  organizationInfo,
  clearDisplayNames,
  chooseSecurityCode,
  issueSecurityCode,
  clearSecurityCode,
  preferLanguage,
  organizationLanguage,
  changeOrganizationLanguage,
  listTypingWords,
  addTypingWord,
  changeTypingWord,
  deleteTypingWord,
  wordLanguages,
  userVerify,
  userAction,
  userDelete,
  feedback,
  queuePendingAction,
  clearPendingAction,
]

/** Description of each group of endpoints. */
export const coreGroups: Readonly<Record<string, string>> = {
  status: 'Health and version of the service',
  users: 'Sign-ins, accounts, enrollment, verification and security codes',
  organization: 'License, language and typing words of the organization',
  'user-display-names': 'Display names of all users',
  'user-verify': 'Deprecated: verify without a bootstrap',
  'user-action': 'Deprecated: changes of a biometric profile',
  'user-delete': 'Deprecated: deletion of an account',
  feedback: 'Deprecated: feedback, which has no effect',
}
