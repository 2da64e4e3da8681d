import { HEADINGS, oneLine, sentenceOf } from '../../domain/alert.js'
import type { Message } from '../../flows/alert/courier.js'

/** The heading of a message. */
export const headingOf = ({ test, event }: Message): string => (test === null ? HEADINGS[event.kind] : 'a test')

/** The text of a message, on one line. */
export const sentenceFor = ({ test, event }: Message): string => (test === null ? sentenceOf(event) : oneLine(test))

/** The text of an e-mail, as lines. */
export const linesOf = (message: Message): string[] => [
  sentenceFor(message),
  '',
  ...(message.test === null
    ? [`When: ${new Date(message.event.at).toISOString()}`, `Kind: ${message.event.kind}`]
    : []),
  `Organization: ${message.organizationId}`,
  `Delivery: ${message.id}`,
  '',
  'The dashboard API lists all notifications: GET /dashboard/notifications',
]
