/** Bounds on the sign-ins that have begun and are not over, of one address and of all. */
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
 * An address with a sign-in has one for each so many that are left, at most. With 16, and the limits above, 20 addresses that take all
 * that they may leave 3,039 of 10,000, and it takes 129 addresses to leave none.
 */
const LEFT_FOR_EACH = 16

/** A sign-in that may begin. `settle` says whether it has, and under which id; null: it has not. */
interface Reservation {
  settle(uid: string | null): void
}

/**
 * The sign-ins that this process has begun, until they are over or their lifetime is. Each keeps its request in the store, before
 * anybody has proved anything. The fewer are left, the fewer an address may have: so few addresses cannot take everything, however many
 * each sends, and no open sign-in is dropped in favour of a new one.
 */
export interface OpenSignIns {
  /** `address`: this address has too many; `all`: all have. */
  begin(address: string | null, bytes: number): Reservation | 'address' | 'all'
  /** A sign-in that goes on as another one: never refused. */
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
  // In the order of their ends.
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
    // No uid of the provider has a space.
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
