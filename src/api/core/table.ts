import type { Route } from '../../http/route.js'
import type { CoreServices } from './core-route.js'
import { feedback } from './legacy/feedback.js'
import { userAction } from './legacy/user-action.js'
import { userDelete } from './legacy/user-delete.js'
import { userVerify } from './legacy/user-verify.js'
import { changeUser, clearDisplayNames, listMembers } from './members.js'
import { organizationInfo } from './organization.js'
import { changeOrganizationLanguage, organizationLanguage } from './organization-language.js'
import { clearPendingAction, queuePendingAction } from './pending-action.js'
import { preferLanguage } from './preferred-language.js'
import { chooseSecurityCode, clearSecurityCode, issueSecurityCode } from './security-code.js'
import { status } from './status.js'
import { deletePattern, enrollPattern, resetProfile } from './typing-patterns.js'
import { addTypingWord, changeTypingWord, deleteTypingWord, listTypingWords, wordLanguages } from './typing-words.js'
import { bootstrapUser, createUser, deleteUser } from './users.js'
import { verifyUser } from './verify.js'

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
