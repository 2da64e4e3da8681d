import { Command, Option } from 'commander'
import { overQuota, type Quotas } from '../domain/organization.js'
import type { License } from '../storage/organization.js'
import { type Administer, print } from './administer.js'
import { JSON_OPTION, uuid, whole } from './arguments.js'
import { table } from './table.js'

/** `keystride organization quotas`: shows the licensed quotas of an organization and, with options, changes them. */
export function quotasCommand(administer: Administer): Command {
  return new Command('quotas')
    .description('show the licensed quotas of an organization and their use; with options, change them')
    .argument('<organization-id>', 'id as "organization list" prints it', uuid)
    .addOption(
      new Option(
        '--mode <mode>',
        'soft: overage is flagged, nothing is refused; strict: creations are refused with 409',
      ).choices(['soft', 'strict']),
    )
    .option('--accounts <n>', 'accounts of both kinds; 0 is unlimited', count)
    .option('--shared-accounts <n>', 'shared accounts; 0 is unlimited', count)
    .option('--members-per-shared-account <n>', 'members of one shared account; 0 is unlimited', count)
    .option(...JSON_OPTION)
    .action((organizationId: string, { json, ...options }: Partial<Quotas> & { json?: true }) =>
      administer(async ({ flows }) => {
        const changed = Object.keys(options).length > 0
        const license = await (changed ? flows.setQuotas(organizationId, options) : flows.license(organizationId))
        if (license === null) throw new Error('there is no organization of that id')
        print(json === true ? JSON.stringify(license, null, 2) : report(license))
      }),
    )
}

function report({ quotas, headcount }: License): string {
  const limit = (n: number) => (n === 0 ? 'unlimited' : String(n))
  const rows = [
    ['accounts', limit(quotas.accounts), String(headcount.nAccounts)],
    ['shared accounts', limit(quotas.sharedAccounts), String(headcount.nAccountsGeneric)],
    ['members of a shared account', limit(quotas.membersPerSharedAccount), '-'],
  ]
  const over = overQuota(quotas, headcount) ? '\nMore is in use than licensed.' : ''
  return `mode: ${quotas.mode}\n${table(['licensed', 'quota', 'in use'], rows)}${over}`
}

const count = whole(0, 2_147_483_647, 'a whole number, 0 for unlimited')
