import type { ActedBy, UserAction } from '../domain/user-action.js'
import type { Paging } from './attempt-log.js'

/** An administrative action, recorded before it is carried out. */
export interface RecordedAction extends ActedBy {
  /** UUIDv7, which contains the time. */
  readonly id: string
  readonly accountId: string
  readonly userRef: string
  readonly memberRef: string
  readonly action: UserAction
  readonly at: number
}

/** A recorded action. `done` is false if the action was refused or its process died. */
export interface UserActionEntry extends RecordedAction {
  readonly done: boolean
}

/** One line of a person's log: a sign-in, or an action. */
export interface UserLogEntry {
  readonly id: string
  readonly at: number
  readonly kind: 'authentication' | 'action'
  readonly memberRef: string
  /** The method of a sign-in, or the action. */
  readonly what: string
  /** `auth`, `challenge` or `block` of a sign-in; `done` or `not-done` of an action. */
  readonly outcome: string
  readonly reason: string
}

/** Actions on the people of an account, and their sign-ins. Records never change; they are deleted with the account. */
export interface UserLogStore {
  record(organizationId: string, action: RecordedAction): Promise<void>
  /** Records that the action was carried out; `id` is the id of this record. */
  recordDone(organizationId: string, action: RecordedAction, id: string): Promise<void>
  /** Actions, newest first. */
  actions(
    organizationId: string,
    userRef: string,
    paging: Paging,
  ): Promise<{ entries: UserActionEntry[]; count: number }>
  /** Sign-ins and actions, newest first. */
  entries(organizationId: string, userRef: string, paging: Paging): Promise<{ entries: UserLogEntry[]; count: number }>
}
