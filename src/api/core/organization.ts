import { z } from 'zod'
import { coreRoute, NoParams, NoQuery } from './core-route.js'

/** Who the key speaks for, and how many people that is. */
export const organizationInfo = coreRoute({
  method: 'get',
  path: '/organization',
  summary: 'The organization of the key and its counters',
  countedAs: 'other',
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
      subscriptionQuantity: z.int().describe('accounts licensed; 0 is unlimited'),
      subscriptionGenericQuantity: z.int().describe('shared accounts licensed; 0 is unlimited'),
      subscriptionUsage: z.int().describe('accounts that count against the license'),
      validFrom: z.iso.datetime(),
      validUntil: z.iso.datetime().nullable().describe('null: no end'),
    }),
  },
  refuses: [],
  async handle({ organizationId, services }) {
    const [{ organization }, headcount] = await Promise.all([
      services.settingsOf(organizationId),
      services.organizations.headcount(organizationId),
    ])
    return {
      status: 200,
      payload: {
        name: organization.name,
        ...headcount,
        // Our choice: without quotas an organization is licensed without limit or end.
        subscriptionQuantity: 0,
        subscriptionGenericQuantity: 0,
        subscriptionUsage: headcount.nAccounts,
        validFrom: new Date(organization.createdAt).toISOString(),
        validUntil: null,
      },
    }
  },
})
