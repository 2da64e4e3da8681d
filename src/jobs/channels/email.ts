import { createTransport } from 'nodemailer'
import { oneLine } from '../../domain/alert.js'
import type { EmailSettings } from '../../domain/alert-channels.js'
import type { DeliveryOutcome, Message } from '../../flows/courier.js'
import { type ConnectNeeds, connected, outcomeOf, tlsOptions } from './connect.js'
import { headingOf, linesOf } from './words.js'

const SILENT_MS = 8000
const DEADLINE_MS = 10_000

/**
 * One e-mail to all recipients by SMTP. The socket is ours, connected to the address that was checked; every header is a
 * template's or a mailbox that the settings' schema has read.
 */
export async function sendEmail(
  needs: ConnectNeeds,
  settings: EmailSettings,
  password: string | null,
  message: Message,
): Promise<DeliveryOutcome> {
  const { host, port, tls, sender, recipients, user } = settings
  const domain = sender.slice(sender.indexOf('@') + 1)
  const send = connected(needs, { host, port }, { tls: false, deadlineMs: DEADLINE_MS }, async (connection) => {
    const transport = createTransport({
      host,
      port,
      connection,
      secure: tls === 'tls',
      requireTLS: tls === 'starttls',
      ignoreTLS: tls === 'none',
      tls: tlsOptions(needs, host),
      name: domain,
      ...(user === null || password === null ? {} : { auth: { user, pass: password } }),
      connectionTimeout: SILENT_MS,
      greetingTimeout: SILENT_MS,
      socketTimeout: SILENT_MS,
      disableFileAccess: true,
      disableUrlAccess: true,
    })
    const mailbox = (address: string) => ({ name: '', address })
    await transport.sendMail({
      from: mailbox(sender),
      to: recipients.map(mailbox),
      subject: oneLine(`Keystride: ${headingOf(message)}`),
      messageId: `<${message.id}@${domain}>`,
      headers: { 'Auto-Submitted': 'auto-generated', 'X-Keystride-Delivery': message.id },
      text: linesOf(message).join('\n'),
    })
    return 'delivered' as const
  })
  return send.catch((error: unknown) => smtpOutcome(error))
}

/** nodemailer's codes, and the reply's class where there was one. */
function smtpOutcome(error: unknown): DeliveryOutcome {
  const { code, responseCode } = (error ?? {}) as { code?: string; responseCode?: number } // what nodemailer rejects with
  if (code === 'EAUTH' || code === 'ENOAUTH') return 'login-refused'
  if (code === 'ETLS') return 'tls-failed'
  if (responseCode !== undefined && responseCode >= 500) return 'refused'
  if (responseCode !== undefined && responseCode >= 400) return 'busy'
  if (code === 'ECONNECTION' || code === 'ESOCKET') return 'unreachable'
  if (code === 'EENVELOPE' || code === 'EMESSAGE') return 'refused'
  return outcomeOf(error)
}
