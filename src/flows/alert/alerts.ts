import type { AlertRules, Channel, RulesChange } from '../../domain/alert.js'
import { type ChannelSettings, endpointOf } from '../../domain/alert-channels.js'
import { type HostList, isAddress, mayAlert, neverReached } from '../../domain/alert-host.js'
import { Refusal } from '../../domain/refusal.js'
import type { AlertStore, ChannelState, DeliveryFilter, LoggedDelivery, StoredChannel } from '../../storage/alerts.js'
import type { Paging } from '../../storage/attempt-log.js'
import type { Vault } from '../../storage/vault.js'
import type { Courier, DeliveryOutcome } from './courier.js'
import { type SecretChange, webhookSecretAfter } from './webhook-secret.js'

interface Needs {
  readonly alerts: AlertStore
  readonly vault: Pick<Vault, 'sealSecret' | 'openSecret'>
  readonly courier: Courier
  readonly reach: Reach
  readonly newId: () => string
  readonly now: () => number
}

/** The hosts and ports that this deployment may send alerts to. */
export interface Reach {
  readonly hosts: HostList
  /** Ports of the service's own stores. No alert is sent to them, on any host. */
  readonly closedPorts: ReadonlySet<number>
}

/** A channel without its secret. */
export interface ShownChannel {
  readonly settings: ChannelSettings
  readonly secretSet: boolean
  /** A signing secret that this call has generated, which is shown only once; null if the call generated none. */
  readonly newSecret: string | null
}

interface Deliveries {
  readonly deliveries: readonly LoggedDelivery[]
  readonly count: number
  readonly channels: readonly ChannelState[]
}

/** Alert rules and channels of an organization. */
export interface AlertFlows {
  rules(organizationId: string): Promise<AlertRules>
  changeRules(organizationId: string, change: RulesChange): Promise<AlertRules>
  /** Null if the channel is not set. */
  channel(organizationId: string, channel: Channel): Promise<ShownChannel | null>
  /**
   * Without a given secret, the stored secret is kept. Refuses a forbidden host, and settings that do not fit their secret,
   * with `validation-failed`.
   */
  setChannel(organizationId: string, settings: ChannelSettings, secret: SecretChange): Promise<ShownChannel>
  /** Refuses with `nothing-found` if the channel is not set. */
  removeChannel(organizationId: string, channel: Channel): Promise<void>
  /** Deliveries, newest first, with the number of all matches, and the state of each channel that is set. */
  deliveries(organizationId: string, filter: DeliveryFilter, paging: Paging): Promise<Deliveries>
  /** Sends a test message at once. Refuses with `nothing-found` without a set channel, with `rate-limited` within 2 s of a test. */
  test(organizationId: string, channel: Channel): Promise<DeliveryOutcome>
}

const TEST_EVERY_MS = 2000

export function createAlertFlows(needs: Needs): AlertFlows {
  const { alerts, vault } = needs
  const found = async (organizationId: string, channel: Channel) => {
    const stored = await alerts.channel(organizationId, channel)
    if (stored === null)
      throw new Refusal('nothing-found', `no ${channel} channel is set: POST /alert/${channel} sets it`)
    return stored
  }
  return {
    rules: (organizationId) => alerts.rules(organizationId),
    changeRules: (organizationId, change) => alerts.changeRules(organizationId, change),
    channel: async (organizationId, channel) => shown(await alerts.channel(organizationId, channel)),

    async setChannel(organizationId, settings, secret) {
      const problem = reachProblem(settings, needs.reach)
      if (problem !== null) throw new Refusal('validation-failed', problem)
      const before = await alerts.channel(organizationId, settings.channel)
      const { sealed, newSecret } =
        settings.channel === 'webhook'
          ? await webhookSecretAfter(needs, organizationId, before?.secret ?? null, secret)
          : { sealed: await givenOrKept(vault, organizationId, { settings, before, secret }), newSecret: null }
      const mismatch = secretProblem(settings, sealed !== null)
      if (mismatch !== null) throw new Refusal('validation-failed', mismatch)
      const channel = { settings, secret: sealed }
      await alerts.setChannel(organizationId, channel)
      return { settings, secretSet: sealed !== null, newSecret }
    },

    async removeChannel(organizationId, channel) {
      if (!(await alerts.removeChannel(organizationId, channel))) await found(organizationId, channel)
    },

    async deliveries(organizationId, filter, paging) {
      const [found, channels] = await Promise.all([
        alerts.deliveries(organizationId, filter, paging),
        alerts.channelStates(organizationId),
      ])
      return { ...found, channels }
    },

    async test(organizationId, channel) {
      const { settings, secret } = await found(organizationId, channel)
      if (!(await alerts.mayTest(organizationId, channel, TEST_EVERY_MS)))
        throw new Refusal('rate-limited', 'the last test of this channel was a moment ago', TEST_EVERY_MS / 1000)
      const plain = secret === null ? null : await vault.openSecret(organizationId, channel, secret)
      const event = { kind: 'degraded', at: needs.now(), userRef: null, memberRef: null, details: {} } as const
      const test = 'This is a test: alerts of Keystride reach you here.'
      return needs.courier(settings, plain, { id: needs.newId(), organizationId, event, test })
    },
  }
}

const shown = (stored: StoredChannel | null): ShownChannel | null =>
  stored === null ? null : { settings: stored.settings, secretSet: stored.secret !== null, newSecret: null }

/** The reason why alerts may not go to this endpoint, with the field's name; null if they may. */
function reachProblem(settings: ChannelSettings, { hosts, closedPorts }: Reach): string | null {
  const { host, port } = endpointOf(settings)
  const [hostField, portField] = 'url' in settings ? ['url', 'url'] : ['host', 'port']
  if (isAddress(host) && neverReached(host)) return `${hostField}: alerts are never sent to an address of this kind`
  if (!mayAlert(host, hosts))
    return `${hostField}: this host is not on the deployment's list: its operator adds it to ALERT_HOSTS`
  return closedPorts.has(port) ? `${portField}: is a port of the service's own stores` : null
}

interface ChannelChange {
  readonly settings: ChannelSettings
  readonly before: StoredChannel | null
  readonly secret: SecretChange
}

const givenOrKept = async (
  vault: Pick<Vault, 'sealSecret'>,
  organizationId: string,
  { settings, before, secret: { given } }: ChannelChange,
): Promise<Uint8Array | null> =>
  given === undefined ? keptSecret(settings, before) : vault.sealSecret(organizationId, settings.channel, given)

/**
 * The stored secret. A password is sent to the host, so it must be given again for another host or user. A signing secret
 * is never sent.
 */
function keptSecret(settings: ChannelSettings, before: StoredChannel | null): Uint8Array | null {
  if (before === null || settings.channel !== 'email' || before.settings.channel !== 'email')
    return before?.secret ?? null
  if (settings.user === null || before.secret === null) return null
  if (settings.host === before.settings.host && settings.user === before.settings.user) return before.secret
  throw new Refusal('validation-failed', 'password: is needed again after a change of host or user')
}

function secretProblem(settings: ChannelSettings, secretSet: boolean): string | null {
  if (settings.channel === 'sms' && !secretSet) return 'signing_secret: is needed, 16 to 256 characters'
  if (settings.channel !== 'email' || (settings.user === null && !secretSet)) return null
  if (settings.user === null) return 'user: is needed with a password'
  if (!secretSet) return 'password: is needed with a user'
  return settings.tls === 'none' ? 'tls: user and password are not sent without TLS' : null
}
