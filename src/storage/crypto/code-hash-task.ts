/** Message to a thread that computes hashes. */
export interface HashTask {
  readonly text: string
  readonly cost: { readonly memoryCost: number; readonly timeCost: number; readonly parallelism: number }
  /** A hash to compare the text with, at the hash's own cost; null computes a new hash under `cost`. */
  readonly kept: string | null
}
