import { z } from 'zod'
import { overQuota } from '../../domain/organization.js'
import { Refusal } from '../../domain/refusal.js'
import { coreRoute, NoParams, NoQuery } from './core-route.js'

export const organizationInfo = coreRoute({
  method: 'get',
  path: '/organization',
  summary: 'The organization of the key and its counters',
  countedAs: 'other',
  lane: 'core',
  needsKey: true,
  needsSession: false,
  params: NoParams,
  query: NoQuery,
  body: { kind: 'none' },
  replies: {
    200: z.object({
      name: z.string(),
      nUsers: z.int().describe('members of all accounts'),
      nAccounts: z.int(),
      nAccountsGeneric: z.int(),
      subscriptionQuantity: z.int().describe('licensed accounts; 0 means unlimited'),
      subscriptionGenericQuantity: z.int().describe('licensed shared accounts; 0 means unlimited'),
      subscriptionUsage: z.int().describe('accounts that count against the license'),
      subscriptionMembersQuantity: z.int().describe('licensed members per shared account; 0 means unlimited'),
      quotaMode: z
        .enum(['soft', 'strict'])
        .describe('soft flags overage and does not refuse it, strict refuses overage'),
      quotaExceeded: z.boolean().describe('accounts or shared accounts exceed the license'),
      validFrom: z.iso.datetime(),
      validUntil: z.iso.datetime().nullable().describe('null if the license has no end'),
    }),
  },
  refuses: [],
  async handle({ organizationId, services }) {
    const [{ organization }, license] = await Promise.all([
      services.settingsOf(organizationId),
      services.organizations.license(organizationId),
    ])
    if (license === null) throw new Refusal('internal', 'the organization of this key no longer exists')
    const { quotas, headcount } = license
    return {
      status: 200,
      payload: {
        name: organization.name,
        ...headcount,
        subscriptionQuantity: quotas.accounts,
        subscriptionGenericQuantity: quotas.sharedAccounts,
        subscriptionUsage: headcount.nAccounts,
        subscriptionMembersQuantity: quotas.membersPerSharedAccount,
        quotaMode: quotas.mode,
        quotaExceeded: overQuota(quotas, headcount),
        // Our choice: a license has no end.
        validFrom: new Date(organization.createdAt).toISOString(),
        validUntil: null,
      },
    }
  },
})
