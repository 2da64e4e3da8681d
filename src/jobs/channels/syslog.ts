import { createSocket } from 'node:dgram'
import { isIPv6, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { SyslogSettings } from '../../domain/alert-channels.js'
import type { DeliveryOutcome, Message } from '../../flows/alert/courier.js'
import { addressOf, type ConnectNeeds, connected, outcomeOf, Undelivered } from './connect.js'
import { syslogFrame, syslogLine } from './syslog-line.js'
import { sentenceFor } from './words.js'

/** Syslog has no acknowledgement. A receiver closes after it has read all, or keeps the connection open; both are a success. */
const CLOSES_WITHIN_MS = 1000
/** Time for the ICMP error of a closed port on this machine or the local network. */
const REFUSED_WITHIN_MS = 100

/** Sends one RFC 5424 message: a datagram, or a frame on a new connection. */
export async function sendSyslog(
  needs: ConnectNeeds,
  settings: SyslogSettings,
  message: Message,
): Promise<DeliveryOutcome> {
  const { host, port, transport, facility, app_name: appName } = settings
  const { id, organizationId, event, test } = message
  const line = syslogLine({
    facility,
    appName,
    at: event.at,
    kind: test === null ? event.kind : 'test',
    parameters: {
      id,
      organization: organizationId,
      ...(event.userRef === null ? {} : { user: event.userRef }),
      ...(event.memberRef === null ? {} : { member: event.memberRef }),
    },
    text: sentenceFor(message),
  })
  try {
    if (transport === 'udp') return await sendDatagram(await addressOf(needs, settings), port, line)
    return await connected(needs, { host, port }, { tls: transport === 'tls' }, (socket) =>
      sendFrame(socket, syslogFrame(line)),
    )
  } catch (error) {
    return outcomeOf(error)
  }
}

async function sendFrame(socket: Socket, frame: string): Promise<DeliveryOutcome> {
  const closed = new Promise<void>((resolve, reject) => {
    socket.once('error', reject)
    socket.once('close', () => resolve())
  })
  closed.catch(() => {}) // handled below
  const written = new Promise<void>((resolve) => {
    socket.resume().end(frame, resolve)
  })
  await Promise.race([written, closed])
  if (!socket.writableFinished) throw new Undelivered('unreachable')
  await Promise.race([closed, delay(CLOSES_WITHIN_MS, undefined, { ref: false })])
  return 'delivered'
}

function sendDatagram(address: string, port: number, line: string): Promise<DeliveryOutcome> {
  const socket = createSocket(isIPv6(address) ? 'udp6' : 'udp4')
  return new Promise<DeliveryOutcome>((resolve, reject) => {
    socket.once('error', reject)
    socket.connect(port, address, () => {
      socket.send(line, (error) => {
        if (error) reject(error)
        else setTimeout(() => resolve('sent'), REFUSED_WITHIN_MS)
      })
    })
  }).finally(() => socket.close())
}
