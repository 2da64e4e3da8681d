/** Bounds on the open sign-ins of one address and of all addresses together. */
interface Limits {
  readonly address: Amount
  readonly all: Amount
}
interface Amount {
  readonly count: number
  readonly bytes: number
}

/** An office behind one address leaves less than 500 sign-ins unfinished in 30 minutes. No measurement behind these numbers. */
export const OPEN_SIGN_INS: Limits = {
  address: { count: 500, bytes: 4 * 2 ** 20 },
  all: { count: 10_000, bytes: 64 * 2 ** 20 },
}

/**
 * An address may have at most one sign-in for each 16 that are left. With the limits above, 20 addresses that take all they may leave
 * 3,039 of 10,000, and it takes 129 addresses to leave none.
 */
const LEFT_FOR_EACH = 16

/** A sign-in that may begin. `settle` gets its id once it has begun, or null if it has not. */
interface Reservation {
  settle(uid: string | null): void
}

/**
 * The sign-ins that this process has begun, until they end or expire. The store keeps the request of each, although nobody has proved
 * anything yet. The fewer sign-ins are left, the fewer an address may have: a few addresses cannot take all of them, and no open
 * sign-in is dropped in favour of a new one.
 */
export interface OpenSignIns {
  /** `address`: this address has too many open sign-ins. `all`: too many are open in total. */
  begin(address: string | null, bytes: number): Reservation | 'address' | 'all'
  /** Continues a sign-in under another id; never refused. */
  continue(uid: string, address: string | null): Reservation
  ended(uid: string): void
}

interface Open extends Amount {
  readonly key: string
  readonly until: number
}

export function createOpenSignIns(needs: {
  readonly now: () => number
  readonly lifetimeMs: number
  readonly limits: Limits
}): OpenSignIns {
  const { now, lifetimeMs, limits } = needs
  // The sign-ins are in the order of expiry.
  const open = new Map<string, Open>()
  const all = { count: 0, bytes: 0 }
  const byKey = new Map<string, { count: number; bytes: number }>()
  let reserved = 0

  function add(id: string, key: string, bytes: number): void {
    const own = byKey.get(key) ?? { count: 0, bytes: 0 }
    byKey.set(key, own)
    for (const sum of [own, all]) {
      sum.count += 1
      sum.bytes += bytes
    }
    open.set(id, { key, count: 1, bytes, until: now() + lifetimeMs })
  }
  function remove(id: string): void {
    const one = open.get(id)
    const own = byKey.get(one?.key ?? '')
    if (one === undefined || own === undefined) return
    open.delete(id)
    for (const sum of [own, all]) {
      sum.count -= 1
      sum.bytes -= one.bytes
    }
    if (own.count === 0) byKey.delete(one.key)
  }
  function removeExpired(): void {
    const at = now()
    for (const [id, { until }] of open) {
      if (until > at) return
      remove(id)
    }
  }
  function reserve(key: string, bytes: number): Reservation {
    // Never equal to a uid of the provider, which has no space.
    const id = `reserved ${reserved++}`
    add(id, key, bytes)
    return {
      settle(uid) {
        remove(id)
        if (uid !== null) add(uid, key, bytes)
      },
    }
  }
  return {
    begin(address, bytes) {
      removeExpired()
      const key = keyOf(address)
      const own = byKey.get(key) ?? { count: 0, bytes: 0 }
      const fits = (of: keyof Amount, more: number) => {
        const left = limits.all[of] - all[of]
        const share = own.count === 0 ? left : left / LEFT_FOR_EACH
        return own[of] + more <= Math.min(limits.address[of], share)
      }
      if (fits('count', 1) && fits('bytes', bytes)) return reserve(key, bytes)
      return own.count === 0 ? 'all' : 'address'
    },
    continue(uid, address) {
      const before = open.get(uid)
      return reserve(before?.key ?? keyOf(address), before?.bytes ?? 0)
    },
    ended: remove,
  }
}

/** A subscriber has an IPv4 address, or a /64 of IPv6. Requests without an address count together. */
const keyOf = (address: string | null): string => (address === null ? '' : address.split(':').slice(0, 4).join(':'))
