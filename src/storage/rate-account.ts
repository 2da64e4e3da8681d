/**
 * What keys have asked, over all processes that share it. A key's account is a moment: each request moves it on by what
 * one may cost, from now where it lies behind.
 */
export interface RateAccounts {
  /** Moves the account on by `spentMs`; how far ahead of now it lies then, in ms. */
  spend(organizationId: string, keyId: string, spentMs: number): Promise<number>
}

/** Beyond so many, those that lie behind now are dropped. */
const KEPT_MAX = 10_000

/** Accounts in the memory of the process that all others ask. Keys do not repeat between organizations. */
export function rateAccountsHere(monotonicMs: () => number): RateAccounts {
  const spentUntil = new Map<string, number>()
  return {
    async spend(_, keyId, spentMs) {
      const now = monotonicMs()
      const until = Math.max(now, spentUntil.get(keyId) ?? now) + spentMs
      spentUntil.set(keyId, until)
      if (spentUntil.size > KEPT_MAX) for (const [key, at] of spentUntil) if (at < now) spentUntil.delete(key)
      return until - now
    },
  }
}
