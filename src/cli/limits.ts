import { Command } from 'commander'
import { burstOf, type KeyRate, NO_RATE } from '../domain/key-rate.js'
import { type Administer, print, WrongUse } from './administer.js'
import { JSON_OPTION, uuid, whole } from './arguments.js'

interface Options {
  readonly rate?: number | 'default'
  readonly burst?: number
  readonly json?: true
}

const MOST = 1_000_000

/** `keystride organization limits`: the rate limit of each API key of an organization. */
export function limitsCommand(administer: Administer): Command {
  return new Command('limits')
    .description('show the rate limit of each API key of an organization; with options, change it')
    .argument('<organization-id>', 'id as "organization list" prints it', uuid)
    .option('--rate <n>', 'requests a second; 0 is unlimited, "default" is KEY_RATE', rate)
    .option('--burst <n>', 'burst in requests; two seconds of the rate unless given', whole(1, MOST))
    .option(...JSON_OPTION)
    .action((organizationId: string, options: Options) =>
      administer(async ({ flows }) => {
        const changed = rateOf(options)
        if (changed !== undefined) await flows.setKeyRate(organizationId, changed)
        const organization = (await flows.list()).find(({ id }) => id === organizationId)
        if (organization === undefined) throw new Error('there is no organization of that id')
        const { keyRate } = organization
        print(options.json === true ? JSON.stringify(keyRate, null, 2) : shown(keyRate))
      }),
    )
}

/** The new rate limit; null for the default, undefined for no change. */
function rateOf({ rate: perSecond, burst: atOnce }: Options): KeyRate | null | undefined {
  const isRate = typeof perSecond === 'number' && perSecond !== NO_RATE
  if (atOnce !== undefined && !isRate) throw new WrongUse('--burst goes with a --rate above 0')
  if (perSecond === undefined) return undefined
  return perSecond === 'default' ? null : { perSecond, burst: atOnce ?? burstOf(perSecond) }
}

function shown(keyRate: KeyRate | null): string {
  if (keyRate === null) return "the deployment's default (KEY_RATE)"
  const { perSecond, burst: atOnce } = keyRate
  return perSecond === NO_RATE ? 'unlimited' : `${perSecond} requests a second for each key, ${atOnce} at once`
}

const rate = (text: string): number | 'default' => (text === 'default' ? text : whole(0, MOST)(text))
