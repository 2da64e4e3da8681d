import type { Member } from '../../domain/account.js'
import { userNotFound } from '../../domain/refusal.js'
import type { ActedBy, UserAction } from '../../domain/user-action.js'
import type { AccountStore } from '../../storage/account.js'
import type { AttemptLockStore } from '../../storage/attempt-lock.js'
import type { Paging } from '../../storage/attempt-log.js'
import type { SecurityCodeStore } from '../../storage/security-code.js'
import type { SessionStore } from '../../storage/session.js'
import type { SsoArtifactStore } from '../../storage/sso-artifact.js'
import type { UserActionEntry, UserLogEntry, UserLogStore } from '../../storage/user-log.js'
import { endingSessions } from '../session/ending-sessions.js'
import { type Designation, findPerson } from '../session/person.js'
import type { PendingActionFlows } from './pending-action.js'
import type { ProfileFlows } from './profiles.js'

interface Needs {
  readonly accounts: AccountStore
  readonly attemptLocks: AttemptLockStore
  readonly securityCodes: Pick<SecurityCodeStore, 'clear'>
  readonly sessions: Pick<SessionStore, 'endAll'>
  readonly ssoArtifacts: Pick<SsoArtifactStore, 'endAll'>
  readonly profileFlows: Pick<ProfileFlows, 'reset'>
  readonly pendingActionFlows: PendingActionFlows
  readonly userLog: UserLogStore
  readonly newId: () => string
  readonly now: () => number
}

export interface UserActionFlows {
  /** Carries out the action and returns its record. The action is recorded before and after it runs, so it always leaves a trace. */
  perform(who: Designation, action: UserAction, by: ActedBy): Promise<UserActionEntry>
  /** The actions, newest first. Refuses an unknown user. */
  actions(who: Designation, paging: Paging): Promise<{ entries: UserActionEntry[]; count: number }>
  entries(who: Designation, paging: Paging): Promise<{ entries: UserLogEntry[]; count: number }>
}

export function createUserActions(needs: Needs): UserActionFlows {
  const { accounts, userLog } = needs
  const known = async ({ organizationId, userRef }: Designation): Promise<void> => {
    if ((await accounts.find(organizationId, userRef, null)) === null) throw userNotFound()
  }
  return {
    async perform(who, action, by) {
      const { account, member } = await findPerson(accounts, who)
      const record = {
        ...by,
        id: needs.newId(),
        accountId: account.id,
        userRef: account.userRef,
        memberRef: member.memberRef,
        action,
        at: needs.now(),
      }
      await userLog.record(who.organizationId, record)
      await carryOut[action](needs, { ...who, memberRef: member.memberRef }, member)
      await userLog.recordDone(who.organizationId, record, needs.newId())
      return { ...record, done: true }
    },

    async actions(who, paging) {
      await known(who)
      return userLog.actions(who.organizationId, who.userRef, paging)
    },

    async entries(who, paging) {
      await known(who)
      return userLog.entries(who.organizationId, who.userRef, paging)
    },
  }
}

const carryOut: Record<UserAction, (needs: Needs, who: Designation, member: Member) => Promise<unknown>> = {
  lock: (needs, who, { id }) =>
    endingSessions(
      () => endEverySession(needs, who),
      async () => {
        if (!(await needs.attemptLocks.close(who.organizationId, id))) throw userNotFound()
      },
    ),
  async unlock({ attemptLocks }, { organizationId }, { id }) {
    if ((await attemptLocks.clear(organizationId, id)) === null) throw userNotFound()
  },
  'clear-security-code': ({ securityCodes, sessions }, { organizationId, userRef, memberRef }, { id }) =>
    endingSessions(
      () => sessions.endAll(organizationId, userRef, memberRef),
      async () => {
        if ((await securityCodes.clear(organizationId, id)) === null) throw userNotFound()
      },
    ),
  'reset-profile': ({ ssoArtifacts, profileFlows }, who) =>
    endingSessions(
      () => ssoArtifacts.endAll(who.organizationId, who.userRef),
      () => profileFlows.reset(who),
    ),
  RESET_BIOMETRIC_PROFILE: ({ pendingActionFlows }, who) => pendingActionFlows.queue(who, 'RESET_BIOMETRIC_PROFILE'),
  UPDATE_BIOMETRIC_PROFILE: ({ pendingActionFlows }, who) => pendingActionFlows.queue(who, 'UPDATE_BIOMETRIC_PROFILE'),
  'clear-pending-action': ({ pendingActionFlows }, who) => pendingActionFlows.clear(who),
}

/** The sessions of the core API and of single sign-on. */
async function endEverySession({ sessions, ssoArtifacts }: Needs, { organizationId, userRef, memberRef }: Designation) {
  await sessions.endAll(organizationId, userRef, memberRef)
  await ssoArtifacts.endAll(organizationId, userRef)
}
