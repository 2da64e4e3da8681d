import type { ClaimedDelivery, Delivery, DeliveryNext, Outbox } from '../../storage/outbox.js'
import type { Vault } from '../../storage/vault.js'
import { type Courier, type DeliveryOutcome, isDelivered } from './courier.js'

interface Needs {
  readonly outbox: Outbox
  readonly vault: Pick<Vault, 'openSecret'>
  readonly courier: Courier
  readonly now: () => number
  /** False, after so long. */
  readonly after: (ms: number) => Promise<false>
  readonly onError: (error: unknown) => void
}

/** Sent at the same time: each takes a connection to the database for two statements, and none while it is sent. */
const AT_ONCE = 20
const SECOND = 1000
const LOOK_AGAIN_MS = SECOND
/** A dead channel is tried this often at last: what waited goes out soon after it is back. */
const CHANNEL_WAIT_MAX_MS = 30 * SECOND
const REFUSED_WAIT_MS = 30 * SECOND
const REFUSALS_MAX = 6
/** An alert of yesterday alerts nobody. */
const GIVEN_UP_MS = 24 * 3600 * SECOND

interface Deliveries {
  /** Begins the deliveries that are due; true where one has been made since and more may be due. Rejects where the store is lost. */
  begin(): Promise<boolean>
  /** When all that was begun is over. */
  idle(): Promise<void>
}

/** Makes deliveries, a slow one beside the others: a dead channel holds up nobody else's. */
export function createDeliveries(needs: Needs): Deliveries {
  const underWay = new Set<Promise<boolean>>()
  function start(claimed: ClaimedDelivery): Promise<boolean> {
    const one = deliver(needs, claimed).catch((error: unknown) => {
      // Nothing is lost: it is claimed again in a minute.
      needs.onError(error)
      return false
    })
    underWay.add(one)
    void one.finally(() => underWay.delete(one))
    return one
  }
  return {
    async begin() {
      const room = AT_ONCE - underWay.size
      const started = room === 0 ? [] : (await needs.outbox.claim(room)).map(start)
      return started.length > 0 && Promise.race([...started, needs.after(LOOK_AGAIN_MS)])
    },
    async idle() {
      await Promise.all(underWay)
    },
  }
}

/** True where it was sent. */
async function deliver(needs: Needs, claimed: ClaimedDelivery): Promise<boolean> {
  const delivery = await needs.outbox.find(claimed)
  if (delivery === null) return true
  const { settings, secret, event } = delivery
  const { organizationId, id } = claimed
  const at = needs.now()
  const plain = secret === null ? null : await needs.vault.openSecret(organizationId, settings.channel, secret)
  const outcome = await needs.courier(settings, plain, { id, organizationId, event, test: null })
  const durationMs = Math.max(0, needs.now() - at)
  await needs.outbox.settle(claimed, { at, outcome, durationMs }, nextAfter(delivery, outcome, needs.now()))
  return isDelivered(outcome)
}

/** What becomes of a delivery: a refusal is its own affair, every other failure its channel's. */
function nextAfter(
  { queuedAt, refusals, failures }: Pick<Delivery, 'queuedAt' | 'refusals' | 'failures'>,
  outcome: DeliveryOutcome,
  now: number,
): DeliveryNext {
  if (isDelivered(outcome)) return { state: 'delivered' }
  if (now - queuedAt > GIVEN_UP_MS) return { state: 'failed' }
  if (outcome !== 'refused')
    return { state: 'waiting', channelForMs: Math.min(CHANNEL_WAIT_MAX_MS, SECOND * 2 ** Math.min(failures, 10)) }
  if (refusals + 1 >= REFUSALS_MAX) return { state: 'failed' }
  return { state: 'waiting', forMs: REFUSED_WAIT_MS * 2 ** refusals }
}
