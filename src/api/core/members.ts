import { z } from 'zod'
import { UserRef } from '../../domain/user-ref.js'
import type { People } from '../../flows/account/accounts.js'
import { coreRoute, designation, MemberQuery, NoParams, NoQuery, UserParams } from './core-route.js'
import { AccountTypeField, BiometricStatusField } from './shapes.js'

const RosterMember = z
  .object({
    memberRef: z.string(),
    displayName: z.string().nullable(),
    biometricStatus: BiometricStatusField,
    nPatternsRef: z.int(),
    securityCodeSet: z.boolean(),
    securityCodeTemporary: z.boolean(),
    createdAt: z.iso.datetime(),
    lastAuthenticationAt: z.iso.datetime().nullable().describe('last successful authentication; null if none'),
  })
  .meta({ title: 'RosterMember' })
const Roster = z
  .object({
    userRef: z.string(),
    accountType: AccountTypeField,
    memberSelection: z.enum(['ask', 'list']).nullable(),
    members: z.array(RosterMember).describe('without archived members; a nominative account has one member'),
  })
  .meta({ title: 'Roster' })
const ChangedAccount = Roster.extend({
  groups: z.array(z.string()),
  tag: z.record(z.string(), z.string()),
}).meta({ title: 'ChangedAccount' })

function roster({ account, members }: People): z.infer<typeof Roster> {
  return {
    userRef: account.userRef,
    accountType: account.type,
    memberSelection: account.type === 'generic' ? account.memberSelection : null,
    members: members.flatMap(({ member, biometricStatus, nPatternsRef }) =>
      member === null
        ? []
        : {
            memberRef: member.memberRef,
            displayName: member.displayName,
            biometricStatus,
            nPatternsRef,
            securityCodeSet: member.code.set,
            securityCodeTemporary: member.code.temporary,
            createdAt: new Date(member.createdAt).toISOString(),
            lastAuthenticationAt: member.lastSuccessAt === null ? null : new Date(member.lastSuccessAt).toISOString(),
          },
    ),
  }
}

/** All members of an account, for a client that shows the list. */
export const listMembers = coreRoute({
  method: 'get',
  path: '/users/{userRef}/members',
  summary: 'The members of an account',
  countedAs: 'other',
  lane: 'core',
  needsKey: true,
  needsSession: false,
  params: UserParams,
  query: NoQuery,
  body: { kind: 'none' },
  replies: { 200: Roster },
  refuses: ['user-not-found'],
  async handle({ organizationId, params, services }) {
    const people = await services.accounts.members(designation(organizationId, params.userRef, {}))
    return { status: 200, payload: roster(people) }
  },
})

const Label = z.string().trim().min(1).max(100)

/**
 * Changes an account's type, groups, tags or member selection, or adds a member. An absent field is not changed. A change
 * of type ends the account's sessions.
 */
export const changeUser = coreRoute({
  method: 'patch',
  path: '/users/{userRef}',
  summary: 'Change an account',
  description:
    'An absent field is not changed. `member_ref` alone on a nominative account is 409. A change of type ends the sessions of the account.',
  countedAs: 'other',
  lane: 'core',
  needsKey: true,
  needsSession: false,
  params: UserParams,
  query: MemberQuery,
  body: {
    kind: 'json',
    schema: z
      .object({
        type: AccountTypeField.describe(
          'generic requires `member_ref`, the name of the existing person as a member; nominative requires at most one member',
        ),
        member_ref: UserRef.describe('the member to add to a generic account'),
        member_selection: z.enum(['ask', 'list']),
        groups: z.array(Label).max(50).describe('replaces all groups'),
        tag: z
          .record(z.string().min(1).max(64), z.string().max(256))
          .refine((tag) => Object.keys(tag).length <= 50, 'must have at most 50 keys')
          .describe('replaces all tags'),
      })
      .partial()
      .refine((change) => Object.keys(change).length > 0, {
        message: 'requires at least one of type, member_ref, member_selection, groups, tag',
      })
      .meta({ examples: [{ groups: ['accounting'], tag: { site: 'Lyon' } }] }),
  },
  replies: { 200: ChangedAccount },
  refuses: [
    'validation-failed',
    'user-not-found',
    'member-mismatch',
    'account-type',
    'member-exists',
    'shared-accounts-quota',
    'members-quota',
    'accounts-quota',
  ],
  async handle({ organizationId, params, query, body, services }) {
    const who = designation(organizationId, params.userRef, query, body.member_ref)
    const people = await services.accounts.change(who, {
      type: body.type,
      memberRef: who.memberRef ?? undefined,
      memberSelection: body.member_selection,
      groups: body.groups,
      tag: body.tag,
    })
    const { groups, tag } = people.account
    return { status: 200, payload: { ...roster(people), groups: [...groups], tag: { ...tag } } }
  },
})

/** Clears only the display names; the accounts stay as they are. */
export const clearDisplayNames = coreRoute({
  method: 'delete',
  path: '/user-display-names',
  summary: 'Clear the display names of all users',
  countedAs: 'other',
  lane: 'core',
  needsKey: true,
  needsSession: false,
  params: NoParams,
  query: NoQuery,
  body: { kind: 'none' },
  replies: { 200: z.object({ n_display_names_cleared: z.int() }) },
  refuses: [],
  async handle({ organizationId, services }) {
    const cleared = await services.accounts.clearDisplayNames(organizationId)
    return { status: 200, payload: { n_display_names_cleared: cleared } }
  },
})
