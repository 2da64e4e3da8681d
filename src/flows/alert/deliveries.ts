import type { ClaimedDelivery, Delivery, DeliveryNext, Outbox } from '../../storage/outbox.js'
import type { Vault } from '../../storage/vault.js'
import { type Courier, type DeliveryOutcome, isDelivered } from './courier.js'

interface Needs {
  readonly outbox: Outbox
  readonly vault: Pick<Vault, 'openSecret'>
  readonly courier: Courier
  readonly now: () => number
  /** Resolves to false after `ms`. */
  readonly after: (ms: number) => Promise<false>
  readonly onError: (error: unknown) => void
}

/** Concurrent deliveries. Each takes a database connection for two statements, and none while it is sent. */
const AT_ONCE = 20
const SECOND = 1000
const LOOK_AGAIN_MS = SECOND
/** Longest wait between tries of a failing channel, so that its queue is sent soon after the channel recovers. */
const CHANNEL_WAIT_MAX_MS = 30 * SECOND
const REFUSED_WAIT_MS = 30 * SECOND
const REFUSALS_MAX = 6
/** Age after which an alert is not tried again. */
const GIVEN_UP_MS = 24 * 3600 * SECOND

interface Deliveries {
  /** Starts the deliveries that are due. Resolves to true if a message was sent and more may be due. Rejects without a store. */
  begin(): Promise<boolean>
  /** Resolves when every started delivery has ended. */
  idle(): Promise<void>
}

/** Sends deliveries concurrently, so that a failing channel delays no other. */
export function createDeliveries(needs: Needs): Deliveries {
  const underWay = new Set<Promise<boolean>>()
  function start(claimed: ClaimedDelivery): Promise<boolean> {
    const one = deliver(needs, claimed).catch((error: unknown) => {
      // The delivery is not lost: it is claimed again after a minute.
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

/** Tries a delivery once. False if the message was not sent. */
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

/** State of a delivery after a try. A refusal delays only this message; any other failure delays its whole channel. */
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
