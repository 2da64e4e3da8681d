import { z } from 'zod'
import type { AlertEvent, EventKind } from './alert.js'

/** Standard base64 with its padding and without stray bits, as strict decoders require. */
const SECRET = /^whsec_(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=|[A-Za-z0-9+/][AQgw]==)?$/
const PREFIX = 'whsec_'.length

/** Whether a text is a signing secret of the Standard Webhooks specification: `whsec_` and 24 to 64 bytes in base64. */
export function isWebhookSecret(text: string): boolean {
  const nBytes = ((text.length - PREFIX) / 4) * 3 - (/=*$/.exec(text)?.[0].length ?? 0)
  return nBytes >= 24 && nBytes <= 64 && SECRET.test(text)
}

export const WebhookSecret = z
  .string()
  .max(PREFIX + 88)
  .refine(isWebhookSecret, 'must be whsec_ and 24 to 64 bytes in base64')

/** The signing secret of a channel, and the one before it, which signs until `until` (epoch ms). */
interface WebhookSecrets {
  readonly current: string
  readonly previous: { readonly secret: string; readonly until: number } | null
}

/** After a change, messages also have a signature by the previous secret for this long. */
export const ROTATION_MS = 24 * 3600 * 1000

/** The text that is sealed and stored. */
export const textOfSecrets = ({ current, previous }: WebhookSecrets): string =>
  previous === null ? current : `${current} ${previous.secret} ${previous.until}`

/** Reads the stored text. */
export function secretsOf(text: string): WebhookSecrets {
  const [current = '', secret, until] = text.split(' ')
  return { current, previous: secret === undefined ? null : { secret, until: Number(until) } }
}

/** The secrets that sign at a time (epoch ms), the current one first. */
export const signingSecrets = ({ current, previous }: WebhookSecrets, now: number): string[] =>
  previous === null || previous.until <= now ? [current] : [current, previous.secret]

/** The `type` of an event in the body of a webhook. */
export const webhookType = (kind: EventKind): string =>
  kind === 'enrollment-completed' ? 'enrollment.completed' : `alert.${kind}`

const iso = (at: number): string => new Date(at).toISOString()

/** Details in the body of a webhook: times are ISO 8601. */
export function webhookDetails({ kind, at, details }: AlertEvent, fullRefPatterns: number): Record<string, unknown> {
  const { until, beganAt, endedAt, ...rest } = details
  const { nPatternsRef } = details
  return {
    ...rest,
    ...(until === undefined ? {} : { until: until === null ? null : iso(until) }),
    ...(beganAt === undefined ? {} : { beganAt: iso(beganAt) }),
    ...(endedAt === undefined ? {} : { endedAt: iso(endedAt) }),
    ...(kind === 'enrollment-completed' && nPatternsRef !== undefined
      ? { biometricStatus: nPatternsRef >= fullRefPatterns ? 'full' : 'ok', time: iso(at) }
      : {}),
  }
}
