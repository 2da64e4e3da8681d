import { createHmac, timingSafeEqual } from 'node:crypto'

/** The clock of the receiver may differ from the timestamp of a message by this much, as the specification recommends. */
const TOLERANCE_S = 300

interface SignedHeaders {
  readonly 'webhook-id': string
  /** Seconds. */
  readonly 'webhook-timestamp': string
  readonly 'webhook-signature': string
}

/** The headers of one try of a message, by the Standard Webhooks specification: one signature for each secret. */
export function signedHeaders(id: string, now: number, body: string, secrets: readonly string[]): SignedHeaders {
  const timestamp = String(Math.floor(now / 1000))
  const signatures = secrets.map((secret) => signatureOf(secret, id, timestamp, body))
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') }
}

/** The reason why a message is not authentic at `now` (epoch ms); null if it is. */
export function webhookProblem(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
  body: string | Uint8Array,
  secret: string,
  now: number,
): string | null {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures } = headers
  if (typeof id !== 'string' || typeof timestamp !== 'string' || typeof signatures !== 'string')
    return 'not all of webhook-id, webhook-timestamp and webhook-signature are present'
  const expected = Buffer.from(signatureOf(secret, id, timestamp, body))
  const signed = signatures.split(' ').some((one) => {
    const given = Buffer.from(one)
    return given.length === expected.length && timingSafeEqual(given, expected)
  })
  if (!signed) return 'bad signature'
  const offS = Math.abs(now / 1000 - Number(timestamp))
  return offS <= TOLERANCE_S ? null : `timestamp off by ${Math.round(offS)} s`
}

function signatureOf(secret: string, id: string, timestamp: string, body: string | Uint8Array): string {
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')}`
}
