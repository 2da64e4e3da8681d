import { type KeyRate, NO_RATE } from '../../domain/key-rate.js'
import { Refusal } from '../../domain/refusal.js'
import type { KeyHolder } from '../../storage/api-key.js'
import type { RateAccounts } from '../../storage/rate-account.js'

interface Needs {
  /** What holds where an organization has no rate of its own. */
  readonly rate: KeyRate
  /** Null where this process alone serves. */
  readonly accounts: RateAccounts | null
  readonly monotonicMs: () => number
}

/** Counts one request of the key; refuses it with `over-rate`, uncounted, where the key asks too often. */
export type SpendRate = (holder: Pick<KeyHolder, 'organizationId' | 'keyId' | 'rate'>) => void

/** A process tells the others what it has let in this often, or once it is an eighth of what may come at once. */
const TELL_MS = 100
const TELL_SHARE = 1 / 8
/** Beyond these the oldest is dropped, and begins anew from what the others know. */
const KEYS_MAX = 10_000

/** As this process has it. */
interface Account {
  /** The moment up to which the key has spent, by the monotonic clock. */
  spentUntil: number
  untoldMs: number
  toldAt: number
  telling: boolean
}

/**
 * The generic cell rate algorithm in each process, without a round trip: what was let in is told to the others afterwards. So
 * of N processes each may let in `max(burst / 8, rate / 10)` requests, and what comes during a round trip, that the others
 * do not know of; they are made up for by what is refused next. While the others cannot be told, each counts alone.
 */
export function createKeyRates({ rate: usual, accounts, monotonicMs }: Needs): SpendRate {
  const known = new Map<string, Account>()

  function accountOf(keyId: string): Account {
    const found = known.get(keyId)
    if (found !== undefined) return found
    const made = { spentUntil: 0, untoldMs: 0, toldAt: Number.NEGATIVE_INFINITY, telling: false }
    known.set(keyId, made)
    if (known.size > KEYS_MAX) {
      const oldest = known.keys().next()
      if (!oldest.done) known.delete(oldest.value)
    }
    return made
  }

  async function tell(to: RateAccounts, organizationId: string, keyId: string, account: Account): Promise<void> {
    const spentMs = account.untoldMs
    account.untoldMs = 0
    account.telling = true
    account.toldAt = monotonicMs()
    try {
      const aheadMs = await to.spend(organizationId, keyId, spentMs)
      account.spentUntil = monotonicMs() + aheadMs + account.untoldMs
    } catch {
      // Told with the next: what keeps one from telling degrades the service as a whole.
      account.untoldMs += spentMs
    } finally {
      account.telling = false
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
    account.untoldMs += oneMs
    if (account.telling) return
    if (now - account.toldAt >= TELL_MS || account.untoldMs >= burst * TELL_SHARE * oneMs)
      void tell(accounts, organizationId, keyId, account)
  }
}
