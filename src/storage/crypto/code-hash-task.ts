/** Message to a thread that computes hashes. */
export interface HashTask {
  readonly text: string
  readonly cost: { readonly memoryCost: number; readonly timeCost: number; readonly parallelism: number }
  /** Null: compute a new hash under `cost`. Else: compare the text with this hash, at the hash's own cost. */
  readonly kept: string | null
}
