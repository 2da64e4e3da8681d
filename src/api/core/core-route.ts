import { z } from 'zod'
import { Refusal } from '../../domain/refusal.js'
import { LanguageWish } from '../../domain/typing-words.js'
import { UserRef } from '../../domain/user-ref.js'
import type { AccountFlows } from '../../flows/account/accounts.js'
import type { PreferLanguage } from '../../flows/account/preferred-language.js'
import type { SecurityCodeFlows } from '../../flows/account/security-code.js'
import type { VerifyFlow } from '../../flows/attempt/verify.js'
import type { LegacyLinkFlows } from '../../flows/legacy/legacy-link.js'
import type { LegacyVerifyFlow } from '../../flows/legacy/legacy-verify.js'
import type { ChangeLanguage } from '../../flows/organization/organization-language.js'
import type { Settings } from '../../flows/organization/settings.js'
import type { LanguageHints } from '../../flows/organization/suggested-words.js'
import type { TypingWordFlows } from '../../flows/organization/typing-words.js'
import type { EnrollFlow } from '../../flows/profile/enroll.js'
import type { PendingActionFlows } from '../../flows/profile/pending-action.js'
import type { ProfileFlows } from '../../flows/profile/profiles.js'
import type { BootstrapFlow } from '../../flows/session/bootstrap.js'
import type { Designation } from '../../flows/session/person.js'
import { routesFor } from '../../http/route.js'
import type { OrganizationStore } from '../../storage/organization.js'

/** Services of the core API's handlers. */
export interface CoreServices {
  readonly bootstrap: BootstrapFlow
  readonly accounts: AccountFlows
  readonly enroll: EnrollFlow
  readonly profiles: ProfileFlows
  readonly verify: VerifyFlow
  readonly settingsOf: (organizationId: string) => Promise<Settings>
  readonly organizations: Pick<OrganizationStore, 'license'>
  readonly securityCodes: SecurityCodeFlows
  readonly changeLanguage: ChangeLanguage
  readonly typingWords: TypingWordFlows
  readonly preferLanguage: PreferLanguage
  readonly legacyVerify: LegacyVerifyFlow
  readonly legacyLink: LegacyLinkFlows
  readonly pendingActions: PendingActionFlows
  /** The cached health, without a call to a store: null if healthy, else the reason. */
  readonly degraded: () => string | null
  readonly version: string
}

/** Creates a row of the core API's route table. */
export const coreRoute = routesFor<CoreServices>()

export const NoParams = z.object({})
export const NoQuery = z.object({})
export const UserParams = z.object({ userRef: UserRef })
export const MemberQuery = z.object({ member_ref: UserRef.optional() })
export const MemberAndLanguageQuery = MemberQuery.extend({ language: LanguageWish.optional() })

/** The query of a call that brings a typing pattern. */
export const PatternQuery = MemberAndLanguageQuery.extend({
  words: z
    .literal('require')
    .optional()
    .describe(
      'the pattern must type the words of its session, also under a policy that only suggests them; a sign-in page of your own sends it',
    ),
})

/** Largest body with a typing pattern. */
export const PATTERN_BYTES_MAX = 512 * 1024

/** The person of a call. The query or the body names the member; if both do, they must agree. */
export function designation(
  organizationId: string,
  userRef: string,
  query: { member_ref?: string | undefined },
  inBody: string | null | undefined = null,
): Designation {
  if (query.member_ref !== undefined && inBody != null && query.member_ref !== inBody) {
    throw new Refusal('member-mismatch', 'member_ref of the body differs from member_ref of the query')
  }
  return { organizationId, userRef, memberRef: query.member_ref ?? inBody ?? null }
}

export const LanguageHeaders = z.object({
  'Accept-Language': z
    .string()
    .optional()
    .describe(
      'language of suggested words if neither the member nor the query sets one; ignored if the language mode is forced',
    ),
})

export const languageHints = (
  query: { language?: string | undefined; words?: 'require' | undefined },
  headers: z.infer<typeof LanguageHeaders>,
): LanguageHints => ({
  language: query.language ?? null,
  acceptLanguage: headers['Accept-Language'] ?? null,
  ...(query.words === undefined ? {} : { words: query.words }),
})
