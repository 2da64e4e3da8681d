import { createHmac } from 'node:crypto'
import type { SmsSettings } from '../../domain/alert-channels.js'
import type { DeliveryOutcome, Message } from '../../flows/alert/courier.js'
import type { ConnectNeeds } from './connect.js'
import { postJson } from './post.js'
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
  message: Message & { readonly now: number },
): Promise<DeliveryOutcome> {
  const { id, event, now } = message
  const body = JSON.stringify({
    id,
    kind: message.test === null ? event.kind : 'test',
    at: new Date(event.at).toISOString(),
    to: settings.recipients,
    text: sentenceFor(message),
  })
  const timestamp = String(Math.floor(now / 1000))
  const headers = {
    'idempotency-key': id,
    'x-keystride-timestamp': timestamp,
    'x-keystride-signature': signature(secret ?? '', timestamp, body),
  }
  return postJson(needs, { channel: 'sms', ...settings }, headers, body)
}

/** The signature by which a gateway verifies the sender. */
export const signature = (secret: string, timestamp: string, body: string): string =>
  `v1=${createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')}`
