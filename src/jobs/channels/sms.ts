import { createHmac } from 'node:crypto'
import { request } from 'node:http'
import type { Socket } from 'node:net'
import { endpointOf, type SmsSettings } from '../../domain/alert-channels.js'
import type { DeliveryOutcome, Message } from '../../flows/alert/courier.js'
import { type ConnectNeeds, connected, outcomeOf } from './connect.js'
import { sentenceFor } from './words.js'

/**
 * Sends one signed POST to the organization's gateway, JSON `{id, kind, at, to, text}`. `X-Keystride-Signature` is `v1=` and
 * the hex HMAC-SHA256, with the signing secret, of `X-Keystride-Timestamp` (seconds), a dot, and the body. `Idempotency-Key` is
 * the delivery's id. Does not follow redirects and does not read the answer's body.
 */
export async function sendSms(
  needs: ConnectNeeds,
  settings: SmsSettings,
  secret: string | null,
  message: Message,
  now: number,
): Promise<DeliveryOutcome> {
  const { id, event } = message
  const body = JSON.stringify({
    id,
    kind: message.test === null ? event.kind : 'test',
    at: new Date(event.at).toISOString(),
    to: settings.recipients,
    text: sentenceFor(message),
  })
  const timestamp = String(Math.floor(now / 1000))
  const headers = {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    'idempotency-key': id,
    'x-keystride-timestamp': timestamp,
    'x-keystride-signature': signature(secret ?? '', timestamp, body),
  }
  const endpoint = endpointOf({ channel: 'sms', ...settings })
  try {
    const status = await connected(needs, endpoint, { tls: true }, (socket) =>
      post(socket, settings.url, headers, body),
    )
    if (status >= 200 && status < 300) return 'delivered'
    return status === 429 || status === 408 || status >= 500 ? 'busy' : 'refused'
  } catch (error) {
    return outcomeOf(error)
  }
}

/** The signature by which a gateway verifies the sender. */
export const signature = (secret: string, timestamp: string, body: string): string =>
  `v1=${createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')}`

function post(socket: Socket, url: string, headers: Record<string, string | number>, body: string): Promise<number> {
  const { host, pathname, search } = new URL(url)
  return new Promise((resolve, reject) => {
    const asked = request(
      {
        method: 'POST',
        path: `${pathname}${search}`,
        headers: { host, connection: 'close', ...headers },
        createConnection: () => socket,
      },
      (answer) => {
        answer.destroy()
        resolve(answer.statusCode ?? 0)
      },
    )
    asked.on('error', reject)
    asked.end(body)
  })
}
