import { HEADINGS, oneLine, sentenceOf } from '../../domain/alert.js'
import type { Message } from '../../flows/alert/courier.js'

/** What a message is about, in a few words of ours. */
export const headingOf = ({ test, event }: Message): string => (test === null ? HEADINGS[event.kind] : 'a test')

/** What a message says, on one line. */
export const sentenceFor = ({ test, event }: Message): string => (test === null ? sentenceOf(event) : oneLine(test))

/** The same for people to read: each line is one line. */
export const linesOf = (message: Message): string[] => [
  sentenceFor(message),
  '',
  ...(message.test === null
    ? [`When: ${new Date(message.event.at).toISOString()}`, `Kind: ${message.event.kind}`]
    : []),
  `Organization: ${message.organizationId}`,
  `Delivery: ${message.id}`,
  '',
  'The dashboard API lists all of them: GET /dashboard/notifications',
]
