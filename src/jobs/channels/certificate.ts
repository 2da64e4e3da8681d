import { once } from 'node:events'
import { connect as connectTcp, type Socket } from 'node:net'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import { addressOf, type ConnectNeeds, outcomeOf, tlsOptions, Undelivered } from './connect.js'

/** How TLS begins on a connection: at once, or after a request in the protocol. */
export type TlsStart = 'tls' | 'smtp' | 'postgres'

/** A server, and how it begins TLS. */
export interface TlsServer {
  /** Canonical. */
  readonly host: string
  readonly port: number
  readonly start: TlsStart
}

interface Certificate {
  /** Epoch ms. */
  readonly validTo: number
  /** OpenSSL's code, such as `CERT_HAS_EXPIRED`, or why the certificate is not the host's; null if it is trusted. */
  readonly untrusted: string | null
}

/**
 * Reads the certificate of an alert channel's server, under the restrictions of a delivery. Ends the connection after the
 * handshake: no message and no secret is sent. Rejects with `Undelivered`.
 */
export async function channelCertificate(needs: ConnectNeeds, server: TlsServer): Promise<Certificate> {
  return certificateAt(await addressOf(needs, server), server, needs)
}

/** Reads the certificate of any server at this address. Rejects with `Undelivered`. */
export async function certificateAt(
  address: string,
  { host, port, start }: TlsServer,
  needs: Pick<ConnectNeeds, 'ca' | 'deadlineMs'>,
): Promise<Certificate> {
  const socket = connectTcp({ host: address, port })
  const late = setTimeout(() => socket.destroy(new Undelivered('timed-out')), needs.deadlineMs)
  const failed = new Promise<never>((_, reject) => {
    socket.on('error', reject)
    socket.on('close', () => reject(new Undelivered('tls-failed')))
  })
  failed.catch(() => {}) // handled below, or after the end
  let secured: TLSSocket | undefined
  try {
    return await Promise.race([
      failed,
      (async () => {
        await once(socket, 'connect')
        await REQUEST[start](socket)
        // `rejectUnauthorized` is off because an untrusted certificate must be read too.
        secured = connectTls({ socket, ...tlsOptions(needs, host), rejectUnauthorized: false })
        await once(secured, 'secureConnect')
        return read(secured)
      })(),
    ])
  } catch (error) {
    throw new Undelivered(outcomeOf(error))
  } finally {
    clearTimeout(late)
    secured?.on('error', () => {}).destroy()
    socket.destroy()
  }
}

function read(socket: TLSSocket): Certificate {
  const { valid_to: validTo } = socket.getPeerCertificate()
  // The declared type is Error. If the error has a code, Node sets only the code, a string.
  const error = socket.authorizationError as unknown as string | Error | null | undefined
  return {
    validTo: Date.parse(validTo),
    untrusted: error ? String(error instanceof Error ? error.message : error) : null,
  }
}

/** PostgreSQL's protocol, SSLRequest: length 8, code 80877103. */
const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47])

const REQUEST: Readonly<Record<TlsStart, (socket: Socket) => Promise<void>>> = {
  tls: async () => {},
  async smtp(socket) {
    await smtpReply(socket, 220)
    socket.write('EHLO keystride.invalid\r\n')
    await smtpReply(socket, 250)
    socket.write('STARTTLS\r\n')
    await smtpReply(socket, 220)
  },
  async postgres(socket) {
    const reply = once(socket, 'data')
    socket.write(SSL_REQUEST)
    const [data] = (await reply) as [Buffer]
    if (data.toString('latin1') !== 'S') throw new Undelivered('tls-failed')
  },
}

const REPLY_MAX = 8192

/** Waits for the last line of a reply. */
async function smtpReply(socket: Socket, wanted: number): Promise<void> {
  let text = ''
  while (!/^\d{3} .*\r?\n$/m.test(text)) {
    const [data] = (await once(socket, 'data')) as [Buffer]
    text += data.toString('latin1')
    if (text.length > REPLY_MAX) throw new Undelivered('not-understood')
  }
  if (!text.startsWith(String(wanted))) throw new Undelivered('tls-failed')
}
