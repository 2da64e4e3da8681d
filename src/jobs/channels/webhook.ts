import type { WebhookSettings } from '../../domain/alert-channels.js'
import { secretsOf, signingSecrets, webhookDetails, webhookType } from '../../domain/webhook.js'
import type { DeliveryOutcome, Message } from '../../flows/alert/courier.js'
import type { ConnectNeeds } from './connect.js'
import { postJson } from './post.js'
import { signedHeaders } from './webhook-signature.js'
import { sentenceFor } from './words.js'

export interface WebhookNeeds extends ConnectNeeds {
  /** References of a full profile. */
  readonly fullRefPatterns: number
}

/** Sends one signed POST, JSON `{type, timestamp, data}`, by the Standard Webhooks specification. `secrets` is the stored text. */
export async function sendWebhook(
  needs: WebhookNeeds,
  settings: WebhookSettings,
  secrets: string | null,
  message: Message & { readonly now: number },
): Promise<DeliveryOutcome> {
  const { id, organizationId, event, test, now } = message
  const { userRef, memberRef } = event
  const body = JSON.stringify({
    type: test === null ? webhookType(event.kind) : 'test',
    timestamp: new Date(event.at).toISOString(),
    data: {
      organizationId,
      userRef,
      memberRef,
      text: sentenceFor(message),
      ...(test === null ? webhookDetails(event, needs.fullRefPatterns) : {}),
    },
  })
  const headers = signedHeaders(id, now, body, signingSecrets(secretsOf(secrets ?? ''), now))
  return postJson(needs, { channel: 'webhook', ...settings }, { ...headers }, body)
}
