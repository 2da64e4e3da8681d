import type { Courier } from '../../flows/alert/courier.js'
import { sendEmail } from './email.js'
import { sendSms } from './sms.js'
import { sendSyslog } from './syslog.js'
import { sendWebhook, type WebhookNeeds } from './webhook.js'

/** Delivers messages over the channel of the settings. */
export const createCourier =
  (needs: WebhookNeeds): Courier =>
  (settings, secret, message) => {
    if (settings.channel === 'email') return sendEmail(needs, settings, secret, message)
    if (settings.channel === 'sms') return sendSms(needs, settings, secret, { ...message, now: Date.now() })
    if (settings.channel === 'webhook') return sendWebhook(needs, settings, secret, { ...message, now: Date.now() })
    return sendSyslog(needs, settings, message)
  }
