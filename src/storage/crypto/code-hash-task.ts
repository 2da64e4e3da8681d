/** What crosses to a thread that computes hashes. */
export interface HashTask {
  readonly text: string
  readonly cost: { readonly memoryCost: number; readonly timeCost: number; readonly parallelism: number }
  /** Null asks for a new hash under `cost`; else whether the text is that of this one, at the cost that it names. */
  readonly kept: string | null
}
