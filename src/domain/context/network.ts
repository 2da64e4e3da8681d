import { addressPrefix } from '../../base/address.js'
import { clipped } from '../../base/text.js'
import type { Circumstances, Habits } from './circumstances.js'
import { outcomeOf, usual } from './habit.js'
import type { Signal, SignalWeights } from './signal.js'

export const NETWORK_WEIGHTS = { address: 1, prefix: 2, asn: 3, anonymizer: 3 } as const

/**
 * Signals of an address: the address, its prefix (/24, /48), its network (ASN), and whether the operator's list of anonymisers
 * contains it. A listed address counts against a member whose successes came from unlisted addresses.
 */
export function networkSignals(
  { ip, network, anonymizer }: Circumstances,
  habits: Habits,
  weights: SignalWeights,
): Signal[] {
  const { values = {} } = habits
  const counted = (signal: 'address' | 'prefix' | 'asn', value: string | null): Signal => ({
    signal,
    value,
    reference: usual(values[signal] ?? []),
    weight: weights[signal] ?? 0,
    computedOutcome: outcomeOf(values[signal], value),
  })
  return [
    counted('address', ip),
    counted('prefix', ip === null ? null : addressPrefix(ip)),
    counted('asn', network === null ? null : asnText(network)),
    {
      signal: 'anonymizer',
      value: anonymizer,
      reference: anonymizer === null ? null : usual(values.anonymizer ?? []) === 'true',
      weight: weights.anonymizer ?? 0,
      // An unlisted address is not evidence for the member, so it must not raise the score.
      computedOutcome: anonymizer === true ? outcomeOf(values.anonymizer ?? [['false', 1, 0]], 'true') : null,
    },
  ]
}

/** A network as text, such as `AS64500 Example`. */
export const asnText = ({ asn, organization }: NonNullable<Circumstances['network']>): string =>
  organization === null ? `AS${asn}` : clipped(`AS${asn} ${organization}`, 80)
