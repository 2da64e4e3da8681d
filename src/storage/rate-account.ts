/**
 * Request rates of keys over all processes. The account of a key is a point in time. Each request advances it by the interval of
 * one request, and from the present if it is in the past.
 */
export interface RateAccounts {
  /** Advances the account by `spentMs`; returns how far the account is ahead of now, ms. */
  spend(organizationId: string, keyId: string, spentMs: number): Promise<number>
}

/** Beyond this number of accounts, those in the past are dropped. */
const KEPT_MAX = 10_000

/** Accounts in the memory of the process that serves all others. Key ids are unique across organizations. */
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
