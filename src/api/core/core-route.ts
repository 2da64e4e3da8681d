import { z } from 'zod'
import { UserRef } from '../../domain/user-ref.js'
import type { AccountFlows } from '../../flows/accounts.js'
import type { BootstrapFlow } from '../../flows/bootstrap.js'
import type { EnrollFlow } from '../../flows/enroll.js'
import type { Designation } from '../../flows/person.js'
import type { ProfileFlows } from '../../flows/profiles.js'
import type { SecurityCodeFlows } from '../../flows/security-code.js'
import type { Settings } from '../../flows/settings.js'
import type { VerifyFlow } from '../../flows/verify.js'
import type { VerifyCodeFlow } from '../../flows/verify-code.js'
import type { LanguageHints } from '../../flows/words.js'
import { routesFor } from '../../http/route.js'
import type { OrganizationStore } from '../../storage/organization.js'

/** What the core API's handlers are given. */
export interface CoreServices {
  readonly bootstrap: BootstrapFlow
  readonly accounts: AccountFlows
  readonly enroll: EnrollFlow
  readonly profiles: ProfileFlows
  readonly verify: VerifyFlow
  readonly settingsOf: (organizationId: string) => Promise<Settings>
  readonly organizations: Pick<OrganizationStore, 'headcount'>
  readonly verifyCode: VerifyCodeFlow
  readonly securityCodes: SecurityCodeFlows
  /** Cached health: null when well, else why not. Touches no store. */
  readonly degraded: () => string | null
  readonly version: string
}

/** Makes a row of the core API's route table. */
export const coreRoute = routesFor<CoreServices>()

export const NoParams = z.object({})
export const NoQuery = z.object({})
export const UserParams = z.object({ userRef: UserRef })
export const MemberQuery = z.object({ member_ref: UserRef.optional() })
export const MemberAndLanguageQuery = MemberQuery.extend({ language: z.string().min(2).max(35).optional() })

/** Typing patterns are capped at this many bytes. */
export const PATTERN_BYTES_MAX = 512 * 1024

export const designation = (
  organizationId: string,
  userRef: string,
  query: { member_ref?: string | undefined },
): Designation => ({ organizationId, userRef, memberRef: query.member_ref ?? null })

export const languageHints = (
  query: { language?: string | undefined },
  header: (name: string) => string | undefined,
): LanguageHints => ({ language: query.language ?? null, acceptLanguage: header('accept-language') ?? null })
