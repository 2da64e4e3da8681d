/** The typing form of a page. */
import { KeystrideTyping, type TypingPattern } from './element.js'

export type { TypingPattern }

/** The element of an id; throws if the page has none. */
export function at<E extends HTMLElement = HTMLElement>(id: string): E {
  const found = document.getElementById(id)
  if (found === null) throw new Error(`the page has no #${id}`)
  // Sound: the page's template and this module are written together.
  return found as E
}

/** A text with its placeholders replaced. */
export const filled = (text: string, values: Readonly<Record<string, string | number>>): string =>
  text.replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole))

const MINUTE_S = 60
const HOUR_S = 3600

/** Seconds that a refusal asks to wait; a minute if it names none. */
export const waitOf = ({ headers }: Response): number => Number(headers.get('retry-after') ?? MINUTE_S)

/** A wait in the language of the page, such as `in 10 minutes`. */
export function whenText(seconds: number): string {
  const words = new Intl.RelativeTimeFormat(document.documentElement.lang)
  return seconds < HOUR_S
    ? words.format(Math.ceil(seconds / MINUTE_S), 'minute')
    : words.format(Math.ceil(seconds / HOUR_S), 'hour')
}

/** The element in which words are typed. Importing its class defines it. */
export const typing = at<KeystrideTyping>('typing')
if (!(typing instanceof KeystrideTyping)) throw new Error('the page has no <keystride-typing>')

/** Calls `send` with each submitted pattern. The field takes no keys until the promise settles. */
export function onPattern(send: (pattern: TypingPattern) => Promise<void>): void {
  at('form').addEventListener('submit', async (event) => {
    event.preventDefault()
    const { pattern } = typing
    if (pattern === null || typing.busy) return
    typing.busy = true
    await send(pattern).finally(() => {
      typing.busy = false
    })
  })
}
