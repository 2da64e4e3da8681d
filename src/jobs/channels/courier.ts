import type { Courier } from '../../flows/alert/courier.js'
import type { ConnectNeeds } from './connect.js'
import { sendEmail } from './email.js'
import { sendSms } from './sms.js'
import { sendSyslog } from './syslog.js'

/** Delivers messages over the channel of the settings. */
export const createCourier =
  (needs: ConnectNeeds): Courier =>
  (settings, secret, message) => {
    if (settings.channel === 'email') return sendEmail(needs, settings, secret, message)
    if (settings.channel === 'sms') return sendSms(needs, settings, secret, message, Date.now())
    return sendSyslog(needs, settings, message)
  }
