import { type KeyRate, NO_RATE } from '../../domain/key-rate.js'
import { Refusal } from '../../domain/refusal.js'
import type { KeyHolder } from '../../storage/api-key.js'
import type { RateAccounts } from '../../storage/rate-account.js'

interface Needs {
  /** Default rate for an organization without its own. */
  readonly rate: KeyRate
  /** Rates shared with the other processes; null if this process is the only one. */
  readonly accounts: RateAccounts | null
  readonly monotonicMs: () => number
}

/** Counts one request of the key. If the key exceeds its rate, refuses the request with `over-rate` and does not count it. */
export type SpendRate = (holder: Pick<KeyHolder, 'organizationId' | 'keyId' | 'rate'>) => void

/** A process reports its admitted requests this often, or once they are an eighth of the burst. */
const REPORT_MS = 100
const REPORT_SHARE = 1 / 8
/** Most keys in memory. The oldest is dropped; its next request starts from the shared account. */
const KEYS_MAX = 10_000

/** A key's account in this process. */
interface Account {
  /** The key has spent its rate up to this moment of the monotonic clock, ms. */
  spentUntil: number
  unreportedMs: number
  reportedAt: number
  reporting: boolean
}

/**
 * The generic cell rate algorithm in each process, without a round trip per request: admitted requests are reported to the
 * shared account afterwards. So each process may admit `max(burst / 8, rate / 10)` requests that the others have not
 * counted yet, and those during a round trip; the overshoot is deducted from later allowance. While the shared account is
 * unreachable, each process counts only its own requests.
 */
export function createKeyRates({ rate: usual, accounts, monotonicMs }: Needs): SpendRate {
  const known = new Map<string, Account>()

  function accountOf(keyId: string): Account {
    const found = known.get(keyId)
    if (found !== undefined) return found
    const made = { spentUntil: 0, unreportedMs: 0, reportedAt: Number.NEGATIVE_INFINITY, reporting: false }
    known.set(keyId, made)
    if (known.size > KEYS_MAX) {
      const oldest = known.keys().next()
      if (!oldest.done) known.delete(oldest.value)
    }
    return made
  }

  async function report(to: RateAccounts, organizationId: string, keyId: string, account: Account): Promise<void> {
    const spentMs = account.unreportedMs
    account.unreportedMs = 0
    account.reporting = true
    account.reportedAt = monotonicMs()
    try {
      const aheadMs = await to.spend(organizationId, keyId, spentMs)
      account.spentUntil = monotonicMs() + aheadMs + account.unreportedMs
    } catch {
      // The next report includes this time. An unreachable store degrades the whole service anyway.
      account.unreportedMs += spentMs
    } finally {
      account.reporting = false
    }
  }

  return ({ organizationId, keyId, rate: own }) => {
    const { perSecond, burst } = own ?? usual
    if (perSecond === NO_RATE) return
    const account = accountOf(keyId)
    const now = monotonicMs()
    const oneMs = 1000 / perSecond
    const spentUntil = Math.max(account.spentUntil, now) + oneMs
    const overMs = spentUntil - now - burst * oneMs
    if (overMs > 0)
      throw new Refusal('over-rate', `this key may make ${perSecond} requests a second`, Math.max(1, overMs / 1000))
    account.spentUntil = spentUntil
    if (accounts === null) return
    account.unreportedMs += oneMs
    if (account.reporting) return
    if (now - account.reportedAt >= REPORT_MS || account.unreportedMs >= burst * REPORT_SHARE * oneMs)
      void report(accounts, organizationId, keyId, account)
  }
}
