import { z } from 'zod'
import { LANGUAGE_MODES, overQuota } from '../../domain/organization.js'
import { Refusal } from '../../domain/refusal.js'
import { Data, dashboardRoute, iso, NoBody, NoParams, NoQuery, Row } from './dashboard-route.js'

const Quota = z.int().describe('0 means unlimited')

/** The organization as the core API shows it, and the settings that only the operator's command changes. */
export const organization = dashboardRoute({
  ...Row,
  method: 'get',
  path: '/organization',
  summary: 'The organization: its settings, quotas and their use',
  params: NoParams,
  query: NoQuery,
  body: NoBody,
  replies: {
    200: Data(
      z.object({
        id: z.string(),
        name: z.string(),
        created_at: z.iso.datetime(),
        default_language: z.string(),
        language_mode: z.enum(LANGUAGE_MODES),
        redirect_origins: z.array(z.string()).describe('targets at the end of a profile link; empty allows any'),
        key_rate: z
          .object({ per_second: z.number(), burst: z.number() })
          .nullable()
          .describe("limit of each key; per_second 0 sets no limit; null if the deployment's limit applies"),
        quotas: z.object({
          mode: z
            .enum(['soft', 'strict'])
            .describe('soft flags overage and does not refuse it, strict refuses overage'),
          accounts: Quota,
          shared_accounts: Quota,
          members_per_shared_account: Quota,
        }),
        use: z.object({ n_accounts: z.int(), n_accounts_generic: z.int(), n_users: z.int() }),
        over_quota: z.boolean(),
        trial: z
          .boolean()
          .describe(
            'the service is for trials, by DEMO=on or the embedded PostgreSQL: the console offers made-up people',
          ),
        n_made_up: z
          .int()
          .describe(
            'number of accounts of made-up people on a service for trials, 500 at most; their userRef begins with made-up-',
          ),
      }),
    ),
  },
  refuses: [],
  async handle({ organizationId, services }) {
    const [found, license] = await Promise.all([
      services.organizations.find(organizationId),
      services.organizations.license(organizationId),
    ])
    if (found === null || license === null)
      throw new Refusal('internal', 'the organization of this key no longer exists')
    const { quotas, headcount } = license
    const { perSecond, burst } = found.keyRate ?? { perSecond: 0, burst: 0 }
    const data = {
      id: found.id,
      name: found.name,
      created_at: iso(found.createdAt),
      default_language: found.defaultLanguage,
      language_mode: found.languageMode,
      redirect_origins: [...found.redirectOrigins],
      key_rate: found.keyRate === null ? null : { per_second: perSecond, burst },
      quotas: {
        mode: quotas.mode,
        accounts: quotas.accounts,
        shared_accounts: quotas.sharedAccounts,
        members_per_shared_account: quotas.membersPerSharedAccount,
      },
      use: {
        n_accounts: headcount.nAccounts,
        n_accounts_generic: headcount.nAccountsGeneric,
        n_users: headcount.nUsers,
      },
      over_quota: overQuota(quotas, headcount),
      trial: services.trial,
      n_made_up: services.trial ? await services.madeUpPeople.count(organizationId) : 0,
    }
    return { status: 200, payload: { data } }
  },
})

export const deleteMadeUpPeople = dashboardRoute({
  ...Row,
  method: 'delete',
  path: '/organization/made-up-people',
  summary: 'Delete made-up people, on a service for trials',
  description:
    'Deletes some accounts whose userRef begins with `made-up-`, as DELETE /core/users/{userRef} does, and takes their attempts out of the statistics. The attempts of the days since their creation are counted again; those of other deleted users leave these counts too. Repeat the call until `left` is 0. On a service that is not for trials there is nothing to delete: 404.',
  params: NoParams,
  query: NoQuery,
  body: NoBody,
  replies: { 200: Data(z.object({ deleted: z.int(), left: z.int().describe('accounts that are left') })) },
  refuses: ['nothing-found'],
  async handle({ organizationId, services }) {
    if (!services.trial) throw new Refusal('nothing-found', 'this service is not for trials: it has no made-up people')
    return { status: 200, payload: { data: await services.madeUpPeople.remove(organizationId) } }
  },
})
