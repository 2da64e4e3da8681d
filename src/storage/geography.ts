import type { Network, Place } from '../domain/context/circumstances.js'

/** The operator's data about addresses, kept in memory, so that a look-up costs no round trip. */
export interface Geography {
  /** `address` is in canonical spelling. A field is null if its file is absent or does not have the address. */
  locate(address: string): {
    readonly network: Network | null
    readonly place: Place | null
    readonly anonymizer: boolean | null
  }
}
