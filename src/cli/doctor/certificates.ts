import { type ChannelSettings, endpointOf } from '../../domain/alert-channels.js'
import { OUTCOMES } from '../../flows/alert/courier.js'
import { certificateAt, channelCertificate, type TlsServer, type TlsStart } from '../../jobs/channels/certificate.js'
import { type ConnectNeeds, Undelivered } from '../../jobs/channels/connect.js'
import type { Config } from '../../process/config.js'
import type { ChannelFacts } from '../../storage/inspection.js'
import { count, type Finding, findingsOf } from './finding.js'

const { ok, note, warning, problem } = findingsOf('certificates')

const DAY_MS = 86_400_000
const SOON_DAYS = 14
const DEADLINE_MS = 5000

/** A host and a port of a connection string. */
interface Address {
  readonly host: string
  readonly port: number
}

/** The hosts of `scheme://user:password@one:1,two:2/...`, or of several such URLs, separated by commas. */
export function addressesIn(url: string, usual: number): Address[] {
  const urls = /,\s*[a-z]+:\/\//i.test(url) ? url.split(',') : [url]
  return urls.flatMap((one) => {
    const [, hosts = ''] = /^[a-z]+:\/\/(?:[^/?#]*@)?([^/?#]*)/i.exec(one.trim()) ?? []
    return hosts.split(',').map((text) => {
      const { hostname, port } = new URL(`tcp://${text}`)
      return { host: hostname.replace(/^\[(.*)\]$/, '$1'), port: Number(port) || usual }
    })
  })
}

const POSTGRES = 5432
const REDIS = 6379

/** Checks the certificates of stores that are reached by TLS. */
export async function checkStoreCertificates({ databaseUrl, redisUrl }: Config): Promise<Finding[]> {
  const database = databaseUrl !== null && /[?&](sslmode=(require|verify-ca|verify-full)|ssl=true)\b/.test(databaseUrl)
  const servers: [string, TlsServer][] = [
    ...(database ? addressesIn(databaseUrl, POSTGRES) : []).map((one): [string, TlsServer] => [
      'PostgreSQL',
      { ...one, start: 'postgres' },
    ]),
    ...(redisUrl?.startsWith('rediss:') ? addressesIn(redisUrl, REDIS) : []).map((one): [string, TlsServer] => [
      'Redis',
      { ...one, start: 'tls' },
    ]),
  ]
  const needs = { ca: null, deadlineMs: DEADLINE_MS }
  // Trust is not checked here: the service's own connection decides it, with the CA of its URL.
  return Promise.all(servers.map(([name, one]) => check(name, one, false, certificateAt(one.host, one, needs))))
}

/**
 * Checks the certificates of alert channels, each server once. Connects only to hosts that alerts may be sent to. `ca` has the
 * certificates of ALERT_CA as PEM, or is null.
 */
export async function checkChannels(
  channels: readonly ChannelFacts[],
  config: Config,
  ca: string | null,
): Promise<Finding[]> {
  const { databaseUrl, redisUrl, alertHosts } = config
  const ports = [
    ...(databaseUrl === null ? [] : addressesIn(databaseUrl, POSTGRES)),
    ...(redisUrl === null ? [] : addressesIn(redisUrl, REDIS)),
  ]
  const needs: ConnectNeeds = {
    hosts: alertHosts,
    closedPorts: new Set(ports.map(({ port }) => port)),
    ca,
    deadlineMs: DEADLINE_MS,
  }
  const known = channels.flatMap(({ settings }) => (settings === null ? [] : [settings]))
  const servers = new Map<string, [string, TlsServer]>()
  for (const settings of known) {
    const start = startOf(settings)
    const { host, port } = endpointOf(settings)
    if (start !== null) servers.set(`${host} ${port} ${start}`, [settings.channel, { host, port, start }])
  }
  const plain = known.filter((settings) => startOf(settings) === null).length
  return [
    ...(await Promise.all(
      [...servers.values()].map(([name, one]) => check(name, one, true, channelCertificate(needs, one))),
    )),
    ...(plain === 0
      ? []
      : [
          note(`${count(plain, 'alert channel')} without TLS.`, 'Choose TLS for the mail server or the syslog server.'),
        ]),
  ]
}

/** How a channel starts TLS; null if the channel is not encrypted. */
function startOf(settings: ChannelSettings): TlsStart | null {
  if ('url' in settings) return 'tls'
  if (settings.channel === 'syslog') return settings.transport === 'tls' ? 'tls' : null
  return settings.tls === 'none' ? null : settings.tls === 'tls' ? 'tls' : 'smtp'
}

async function check(
  name: string,
  { host, port }: TlsServer,
  mustTrust: boolean,
  reading: ReturnType<typeof certificateAt>,
): Promise<Finding> {
  const whose = `The certificate of ${host}:${port} (${name})`
  try {
    const { validTo, untrusted } = await reading
    const days = Math.floor((validTo - Date.now()) / DAY_MS)
    if (days < 0) return problem(`${whose} expired ${count(-days, 'day')} ago.`, 'Renew it.')
    if (untrusted !== null && mustTrust)
      return problem(`${whose} is not trusted: ${untrusted}.`, 'Correct it, or add its issuer to ALERT_CA.')
    if (days < SOON_DAYS) return warning(`${whose} is valid for ${count(days, 'more day')}.`, 'Renew it.')
    return ok(`${whose} is valid for ${count(days, 'more day')}.`)
  } catch (error) {
    if (!(error instanceof Undelivered)) throw error
    const advice =
      error.outcome === 'not-allowed'
        ? 'Add the host to ALERT_HOSTS, or remove the channel.'
        : 'Check the host, the port and the network.'
    return warning(`${whose} could not be read: ${OUTCOMES[error.outcome]}.`, advice)
  }
}
