import { randomUUID } from 'node:crypto'
import { PASSWORD_LIMITS } from '../domain/one-time-password.js'
import type { DeliveryOutcome } from '../flows/alert/courier.js'
import type { ConnectNeeds } from '../jobs/channels/connect.js'
import { type MailServer, sendMail } from '../jobs/channels/email.js'
import { SSO_TEXTS } from '../web/texts.js'
import { languageOf } from './pages.js'

interface Needs extends ConnectNeeds {
  readonly server: MailServer
  readonly password: string | null
  /** The address of the bridge; the mail names its host. */
  readonly issuer: string
  readonly onFailure: (outcome: DeliveryOutcome) => void
}

/** Sends one-time passwords by the same rules as alerts: hosts of ALERT_HOSTS only, and TLS as configured. */
export const passwordMailer =
  (needs: Needs) =>
  async (address: string, password: string, language: string | null): Promise<boolean> => {
    const { subject, text } = SSO_TEXTS[languageOf(language, null)].mail
    const { host } = new URL(needs.issuer)
    const minutes = String(PASSWORD_LIMITS.lifetimeMs / 60_000)
    const outcome = await sendMail(needs, needs.server, needs.password, {
      id: randomUUID(),
      recipients: [address],
      subject: subject.replace('{host}', host),
      text: text.replace('{password}', password).replace('{minutes}', minutes).replace('{host}', host),
    })
    if (outcome !== 'delivered') needs.onFailure(outcome)
    return outcome === 'delivered'
  }
