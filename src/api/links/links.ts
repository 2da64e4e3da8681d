import { z } from 'zod'
import { LINK_VALIDITY_S, type LinkKind } from '../../domain/profile-link.js'
import { redirectUri } from '../../domain/redirect-uri.js'
import type { RefusalKind } from '../../domain/refusal.js'
import { UserRef } from '../../domain/user-ref.js'
import { designation, MemberQuery, UserParams } from '../core/core-route.js'
import { linkRoute } from './link-route.js'

const RedirectUri = z.string().transform((text, context) => {
  const address = redirectUri(text)
  if (address !== null) return address
  context.addIssue({
    code: 'custom',
    message: 'must be an https URL (http on loopback) without user info and fragment, at most 2048 characters',
  })
  return z.NEVER
})
const { least, most, fallback } = LINK_VALIDITY_S
const Wishes = z
  .object({
    redirect_uri: RedirectUri.nullish().describe(
      'redirect address at the end, with status=completed added, which replaces its own status',
    ),
    validity: z
      .int()
      .min(least)
      .max(most)
      .nullish()
      .describe(
        `lifetime, seconds; default ${fallback}, and for a reset as much more as the policy's hours between patterns take`,
      ),
    member_ref: UserRef.nullish().describe('the member of a generic account'),
  })
  .meta({ examples: [{ redirect_uri: 'https://login.example.com/welcome', validity: 3600 }] })
const Made = z.object({
  link: z.string().describe('URL of the hosted page, for the user to open'),
  key: z.string().describe('last segment of the link'),
  expiresIn: z.int().describe('lifetime, seconds'),
})

const makes = (kind: LinkKind, summary: string, description: string, refuses: readonly RefusalKind[]) =>
  linkRoute({
    method: 'post',
    path: `/api/links/${kind}/{userRef}`,
    summary,
    description,
    countedAs: 'other',
    lane: 'core',
    needsKey: true,
    needsSession: false,
    params: UserParams,
    query: MemberQuery,
    body: { kind: 'json', optional: true, schema: Wishes },
    replies: { 200: Made },
    refuses: [
      'validation-failed',
      'member-required',
      'member-mismatch',
      'user-not-found',
      'profile-complete',
      ...refuses,
    ],
    async handle({ organizationId, params, query, body, services }) {
      const who = designation(organizationId, params.userRef, query, body.member_ref)
      const wishes = { redirectUri: body.redirect_uri ?? null, validityS: body.validity ?? null }
      const { key, validityS } = await services.profileLinks.make(who, kind, wishes)
      return { status: 200, payload: { link: `${services.linksUrl}/b/${key}`, key, expiresIn: validityS } }
    },
  })

const ONE_LIVE =
  'A user has one live link of each kind: a new one revokes the older, and a reset of the profile ends all. Opening a link does not use it up. ' +
  'Ended and unknown links get the same page and status, 404. A `validity` shorter than the hours between patterns take is 422.'

export const createProfileLink = makes(
  'create-profile',
  'Create a link on which a user registers a biometric profile',
  `The call creates an unknown user (or member of a shared account). Patterns count at once, and still count if the link is revoked. ${ONE_LIVE}`,
  ['accounts-quota', 'members-quota'],
)

export const resetProfileLink = makes(
  'reset-profile',
  'Create a link on which a user replaces the biometric profile',
  `The old profile stays in use until the new one is complete and replaces it. ${ONE_LIVE}`,
  [],
)

export const completeProfileLink = makes(
  'complete-profile',
  'Create a link on which a user adds missing patterns to the biometric profile',
  `A profile below its target becomes complete, a complete one becomes full; a full one is 409. Patterns count at once. ${ONE_LIVE}`,
  [],
)

/** On a shared account without `member_ref`, revokes the links of all its members. */
export const revokeLinks = linkRoute({
  method: 'delete',
  path: '/api/links/{userRef}',
  summary: "Revoke all of a user's links",
  description:
    'On a shared account without `member_ref`, revokes the links of all members. Patterns of an abandoned reset are removed.',
  countedAs: 'other',
  lane: 'core',
  needsKey: true,
  needsSession: false,
  params: UserParams,
  query: MemberQuery,
  body: { kind: 'none' },
  replies: { 200: z.object({}) },
  refuses: ['user-not-found', 'member-mismatch'],
  async handle({ organizationId, params, query, services }) {
    await services.profileLinks.revoke(designation(organizationId, params.userRef, query))
    return { status: 200, payload: {} }
  },
})
