import type { LinkKind } from '../../src/domain/profile-link.js'
import type { Designation } from '../../src/flows/session/person.js'
import type { Kind } from './moods.js'
import type { Flows } from './service.js'

/** A link as its recipient knows it. */
export interface HeldLink {
  readonly id: string
  readonly key: string
  readonly sha256: Uint8Array
  readonly kind: LinkKind
  readonly memberId: string
  /** `memberRef` when the link was made. */
  readonly memberRef: string
}

/** One call, with the state at its beginning. */
export interface Request {
  readonly kind: Kind
  readonly process: number
  readonly who: Designation
  readonly token?: string
  /** The security code in the call. */
  readonly code?: string
  readonly link?: HeldLink
  readonly accountId?: string
  /** The member whose sessions the call ends; null for all members of the account. */
  readonly ends?: { readonly memberRef: string | null }
  readonly beganAt: number
  readonly at: number
  readonly run: (flows: Flows) => Promise<object>
}
