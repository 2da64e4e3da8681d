import { FACILITIES } from '../../domain/alert-channels.js'

interface SyslogMessage {
  readonly facility: (typeof FACILITIES)[number]
  readonly appName: string
  /** Epoch ms. */
  readonly at: number
  /** MSGID: the kind of message. */
  readonly kind: string
  readonly parameters: Readonly<Record<string, string>>
  readonly text: string
}

/** Our choice: every alert is a warning. */
const SEVERITY_WARNING = 4
/** The enterprise number that RFC 5612 reserves for documentation: the product has no own number. */
const SD_ID = 'keystride@32473'

/**
 * One message of RFC 5424, ASCII on one line. Header fields hold printable ASCII without spaces; parameter values escape
 * `"`, `\` and `]`; any other character becomes `?`.
 */
export function syslogLine({ facility, appName, at, kind, parameters, text }: SyslogMessage): string {
  const priority = FACILITIES.indexOf(facility) * 8 + SEVERITY_WARNING
  const data = Object.entries(parameters).map(([name, value]) => `${field(name, 32)}="${escaped(value)}"`)
  const header = `<${priority}>1 ${new Date(at).toISOString()} - ${field(appName, 48)} - ${field(kind, 32)}`
  return `${header} [${[SD_ID, ...data].join(' ')}] ${printable(text)}`
}

/** Octet counting (RFC 6587, section 3.4.1; RFC 5425): the length ends a message, not its content. */
export const syslogFrame = (line: string): string => `${line.length} ${line}`

const printable = (text: string) => text.replace(/[^\x20-\x7e]/g, '?')
const escaped = (text: string) => printable(text).replace(/["\\\]]/g, '\\$&')
const field = (text: string, max: number) => text.replace(/[^\x21-\x7e]|["=\]]/g, '?').slice(0, max) || '-'
