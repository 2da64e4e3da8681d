import { lookup } from 'node:dns/promises'
import { connect as connectTcp, isIP, type Socket } from 'node:net'
import {
  type ConnectionOptions,
  checkServerIdentity,
  connect as connectTls,
  createSecureContext,
  rootCertificates,
  type SecureContext,
} from 'node:tls'
import { canonicalHost, type HostList, isAddress, mayAlert, neverReached } from '../../domain/alert-host.js'
import type { DeliveryOutcome } from '../../flows/alert/courier.js'

/** Restrictions on connections, and their trusted certificates. */
export interface ConnectNeeds {
  readonly hosts: HostList
  readonly closedPorts: ReadonlySet<number>
  /** Certificates (PEM) that are trusted in addition to the well-known ones; null if none. */
  readonly ca: string | null
  /** Deadline of a delivery: name lookup, connection and conversation together. */
  readonly deadlineMs: number
  /** Resolves a name to addresses; tests use their own names. */
  readonly resolve?: (name: string) => Promise<readonly string[]>
}

interface Endpoint {
  /** Canonical. */
  readonly host: string
  readonly port: number
}

/** A failed delivery, with the outcome to report. */
export class Undelivered extends Error {
  override readonly name = 'Undelivered'
  constructor(readonly outcome: DeliveryOutcome) {
    super(outcome)
  }
}

const byDns = async (name: string): Promise<readonly string[]> =>
  (await lookup(name, { all: true, verbatim: true })).map(({ address }) => address)

/**
 * The address to connect to. The name is resolved once, so that it cannot lead to another address after the check. Every
 * address of the name must be permitted. Throws `Undelivered`.
 */
export async function addressOf(needs: ConnectNeeds, { host, port }: Endpoint): Promise<string> {
  if (!mayAlert(host, needs.hosts) || needs.closedPorts.has(port)) throw new Undelivered('not-allowed')
  if (isAddress(host)) return host
  const found = await (needs.resolve ?? byDns)(host).catch(() => [])
  const addresses = found.map(canonicalHost)
  if (addresses.some((address) => address === null || neverReached(address))) throw new Undelivered('not-allowed')
  const [first] = addresses
  if (first === undefined || first === null) throw new Undelivered('name-unknown')
  return first
}

/** Cached by the text of `ca`, because parsing 150 root certificates takes about 100 ms. */
const contexts = new Map<string, SecureContext>()
function trusting(ca: string): SecureContext {
  const made = contexts.get(ca) ?? createSecureContext({ ca: [...rootCertificates, ca], minVersion: 'TLSv1.2' })
  contexts.set(ca, made)
  return made
}

/** TLS options of every channel: the certificate must be that of the configured host, independent of the address. */
export const tlsOptions = ({ ca }: Pick<ConnectNeeds, 'ca'>, host: string): ConnectionOptions => ({
  ...(isIP(host) === 0 ? { servername: host } : {}),
  ...(ca === null ? { minVersion: 'TLSv1.2' } : { secureContext: trusting(ca) }),
  checkServerIdentity: (_, certificate) => checkServerIdentity(host, certificate),
})

/**
 * Resolves and checks the address of `endpoint`, connects, with TLS if `tls`, and runs `work`. Destroys the socket afterwards,
 * and at the deadline in any case. Rejects with the error of the socket or of the work.
 */
export async function connected<T>(
  needs: ConnectNeeds,
  endpoint: Endpoint,
  { tls }: { readonly tls: boolean },
  work: (socket: Socket) => Promise<T>,
): Promise<T> {
  let socket: Socket | undefined
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Undelivered('timed-out')), needs.deadlineMs)
  })
  const doing = (async () => {
    const address = await addressOf(needs, endpoint)
    const options = { host: address, port: endpoint.port }
    socket = tls ? connectTls({ ...options, ...tlsOptions(needs, endpoint.host) }) : connectTcp(options)
    await opened(socket, tls ? 'secureConnect' : 'connect')
    return work(socket)
  })()
  doing.catch(() => {}) // handled below, or after the deadline
  try {
    return await Promise.race([doing, late])
  } finally {
    clearTimeout(timer)
    socket?.on('error', () => {}).destroy()
  }
}

function opened(socket: Socket, event: 'connect' | 'secureConnect'): Promise<void> {
  return new Promise((resolve, reject) => {
    let reached = false
    socket.once('connect', () => {
      reached = true
    })
    // A peer that closes during the handshake, or does not speak TLS, was reached.
    socket.once('error', (error) =>
      reject(reached && !(error instanceof Undelivered) ? new Undelivered('tls-failed') : error),
    )
    socket.once('close', () => reject(new Undelivered(reached ? 'tls-failed' : 'unreachable')))
    socket.once(event, resolve)
  })
}

const UNREACHABLE = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EADDRNOTAVAIL',
  'ECONNRESET',
  'EPIPE',
  'EACCES',
])

/** The outcome for the error of a delivery. It does not depend on text of the peer. */
export function outcomeOf(error: unknown): DeliveryOutcome {
  if (error instanceof Undelivered) return error.outcome
  const code = (error as { code?: unknown } | null)?.code
  if (typeof code !== 'string') return 'not-understood'
  if (UNREACHABLE.has(code)) return 'unreachable'
  if (code === 'ETIMEDOUT') return 'timed-out'
  return code.startsWith('ERR_TLS') || code.startsWith('ERR_SSL') ? 'tls-failed' : 'not-understood'
}
