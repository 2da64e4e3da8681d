import type { Network, Place } from '../domain/context/circumstances.js'

/** What the operator's files say of an address: in memory, so that asking costs no round trip. */
export interface Geography {
  /** Of an address in its canonical spelling. Each null where its file is not there or does not know the address. */
  look(address: string): {
    readonly network: Network | null
    readonly place: Place | null
    readonly anonymizer: boolean | null
  }
}
