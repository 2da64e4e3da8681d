import type { Member } from '../../domain/account.js'
import type { ProfileTargets } from '../../domain/biometric-status.js'
import { LINK_VALIDITY_S, type LinkKind, linkAim } from '../../domain/profile-link.js'
import { mayRedirect } from '../../domain/redirect-uri.js'
import { memberNotFound, Refusal, userNotFound } from '../../domain/refusal.js'
import type { AccountStore } from '../../storage/account.js'
import type { ProfileLinkStore } from '../../storage/profile-link.js'
import type { AccountFlows } from '../account/accounts.js'
import { type Settings, settingsFor } from '../organization/settings.js'
import { sha256 } from '../process/tokens.js'
import { type Designation, findAccount, findPerson, type Person } from '../session/person.js'
import { intervalOf } from './store-reference.js'

interface Needs {
  readonly accounts: AccountStore
  readonly createAccount: AccountFlows['create']
  readonly profileLinks: ProfileLinkStore
  readonly settingsOf: (organizationId: string) => Promise<Settings>
  readonly targets: ProfileTargets
  readonly newId: () => string
  readonly newToken: () => string
  readonly now: () => number
}

interface LinkWishes {
  /** An address that `redirectUri` accepts; null if the page only shows that the user has finished. */
  readonly redirectUri: string | null
  /** If null, a link lives for a day, and a reset link for as much longer as the policy's hours between patterns take. */
  readonly validityS: number | null
}

export interface ProfileLinkFlows {
  /**
   * Makes a link and returns its key, which is not stored, and its lifetime in seconds. Ends the user's older link of the same
   * kind. `create-profile` creates an absent person. Refuses with `profile-complete` if the link would have nothing to do, with
   * `validation-failed` if it would end before its last pattern.
   */
  make(
    who: Designation,
    kind: LinkKind,
    wishes: LinkWishes,
  ): Promise<{ readonly key: string; readonly validityS: number }>
  /** Ends the links of a person; of all members of a shared account if none is named. */
  revoke(who: Designation): Promise<void>
}

export function createProfileLinkFlows(needs: Needs): ProfileLinkFlows {
  return {
    async make(who, kind, { redirectUri, validityS: wished }) {
      const settings = await needs.settingsOf(who.organizationId)
      if (redirectUri !== null && !mayRedirect(redirectUri, settings.organization.redirectOrigins))
        throw new Refusal('validation-failed', "redirect_uri: its origin is not on the organization's list")
      const { account, member } =
        kind === 'create-profile' ? await createdPerson(needs, who) : await findPerson(needs.accounts, who)
      const aim = linkAim(kind, { member, targets: needs.targets, now: needs.now() })
      if (aim === null) throw new Refusal('profile-complete', NOTHING_TO_DO[kind])
      const validityS = lifetimeOf(kind, wished, intervalOf(settingsFor(settings, account)) / 1000, needs.targets)
      await needs.profileLinks.sweep(who.organizationId)
      const key = needs.newToken()
      const link = { id: needs.newId(), memberId: member.id, kind, aim, sha256: sha256(key), redirectUri, validityS }
      if (!(await needs.profileLinks.make(who.organizationId, link))) throw userNotFound()
      return { key, validityS }
    },

    async revoke(who) {
      const { member } = await findAccount(needs.accounts, who)
      if (member === null && who.memberRef !== null) throw memberNotFound()
      const members = member === null ? await allMembers(needs, who) : [member]
      await needs.profileLinks.revoke(
        who.organizationId,
        members.map(({ id }) => id),
      )
    },
  }
}

const NOTHING_TO_DO: Record<LinkKind, string> = {
  'create-profile': 'the biometric profile is complete already: reset it with a reset-profile link',
  'complete-profile': 'the biometric profile is full already',
  'reset-profile': 'the biometric profile is not to be reset',
}

/**
 * Lifetime of a link, seconds. The patterns of a reset end with its link, so the link must outlive the `intervalS` between them.
 * The patterns of any other link are continued by the next link.
 */
function lifetimeOf(
  kind: LinkKind,
  wished: number | null,
  intervalS: number,
  { targetRefPatterns }: ProfileTargets,
): number {
  const { fallback, most } = LINK_VALIDITY_S
  const leastS = kind === 'reset-profile' ? (targetRefPatterns - 1) * intervalS : 0
  const validityS = wished ?? Math.min(most, leastS + fallback)
  if (validityS > leastS) return validityS
  const why = `the policy's hours between patterns make a reset by link take ${leastS} s`
  throw new Refusal(
    'validation-failed',
    leastS < most
      ? `validity: ${why}, got ${validityS} s`
      : `${why}, and a link lives for at most ${most} s: reset the profile, then make a create-profile link`,
  )
}

async function createdPerson(needs: Needs, who: Designation): Promise<Person> {
  const { account, member } = await needs.createAccount(who, { type: null, displayName: null, withCode: false })
  if (member === null) throw new Refusal('member-required', 'member_ref is required on a generic account')
  return { account, member }
}

const allMembers = async ({ accounts }: Needs, { organizationId, userRef }: Designation): Promise<readonly Member[]> =>
  (await accounts.roster(organizationId, userRef))?.members ?? []
