import { createTransport } from 'nodemailer'
import { oneLine } from '../../domain/alert.js'
import type { EmailSettings } from '../../domain/alert-channels.js'
import type { DeliveryOutcome, Message } from '../../flows/alert/courier.js'
import { type ConnectNeeds, connected, outcomeOf, tlsOptions } from './connect.js'
import { headingOf, linesOf } from './words.js'

/** Sends an alert by e-mail to all recipients. */
export const sendEmail = (
  needs: ConnectNeeds,
  settings: EmailSettings,
  password: string | null,
  message: Message,
): Promise<DeliveryOutcome> =>
  sendMail(needs, settings, password, {
    id: message.id,
    recipients: settings.recipients,
    subject: oneLine(`Keystride: ${headingOf(message)}`),
    text: linesOf(message).join('\n'),
    headers: { 'X-Keystride-Delivery': message.id },
  })

/** A mail server and a sender. */
export type MailServer = Omit<EmailSettings, 'recipients'>

interface Mail {
  readonly id: string
  readonly recipients: readonly string[]
  /** One line. */
  readonly subject: string
  readonly text: string
  readonly headers?: Readonly<Record<string, string>>
}

/**
 * Sends one e-mail to all recipients by SMTP, on our own socket to the checked address. Every header comes from a template, or
 * is a mailbox that the schema of the settings has parsed.
 */
export async function sendMail(
  needs: ConnectNeeds,
  settings: MailServer,
  password: string | null,
  { id, recipients, subject, text, headers }: Mail,
): Promise<DeliveryOutcome> {
  const { host, port, tls, sender, user } = settings
  const domain = sender.slice(sender.indexOf('@') + 1)
  const send = connected(needs, { host, port }, { tls: tls === 'tls' }, async (connection) => {
    const transport = createTransport({
      host,
      port,
      connection,
      secured: tls === 'tls',
      secure: tls === 'tls',
      requireTLS: tls === 'starttls',
      ignoreTLS: tls === 'none',
      tls: tlsOptions(needs, host),
      name: domain,
      ...(user === null || password === null ? {} : { auth: { user, pass: password } }),
      greetingTimeout: needs.deadlineMs,
      socketTimeout: needs.deadlineMs,
      disableFileAccess: true,
      disableUrlAccess: true,
    })
    const mailbox = (address: string) => ({ name: '', address })
    await transport.sendMail({
      from: mailbox(sender),
      to: recipients.map(mailbox),
      subject,
      messageId: `<${id}@${domain}>`,
      headers: { 'Auto-Submitted': 'auto-generated', ...headers },
      text,
    })
    return 'delivered' as const
  })
  return send.catch((error: unknown) => smtpOutcome(error))
}

/** The outcome for nodemailer's error codes, and the class of an SMTP reply. */
function smtpOutcome(error: unknown): DeliveryOutcome {
  const { code, originalCode, responseCode } = (error ?? {}) as {
    code?: string
    originalCode?: string
    responseCode?: number
  }
  if (code === 'EAUTH' || code === 'ENOAUTH') return 'login-refused'
  if (code === 'ETLS') return 'tls-failed'
  if (responseCode !== undefined && responseCode >= 500) return 'refused'
  if (responseCode !== undefined && responseCode >= 400) return 'busy'
  // `connected` has established the connection, so a later error is one of the network or of STARTTLS.
  if (code === 'ECONNECTION') return 'unreachable'
  if (code === 'ESOCKET') return outcomeOf({ code: originalCode }) === 'unreachable' ? 'unreachable' : 'tls-failed'
  if (code === 'EENVELOPE' || code === 'EMESSAGE') return 'refused'
  return outcomeOf(error)
}
