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

/** The language that the page was written in; a browser that translates the page changes the attribute. */
export const language = document.documentElement.lang

/** The service's answer; null if something else answered, such as a proxy, with a page of its own. */
export async function answerOf<A extends { readonly success: boolean }>(response: Response): Promise<A | null> {
  try {
    const answer: { readonly success?: unknown; readonly message?: unknown } | null = await response.json()
    // Sound: this is the envelope of the service, whose answers `A` describes.
    return typeof answer?.success === 'boolean' && typeof answer.message === 'string' ? (answer as unknown as A) : null
  } catch {
    return null
  }
}

/** Seconds that a refusal asks to wait, by a number or a date; a minute if it names none. */
export function waitOf({ headers }: Response): number {
  const named = headers.get('retry-after') ?? ''
  const seconds = /^\d+$/.test(named) ? Number(named) : (Date.parse(named) - Date.now()) / 1000
  return seconds > 0 && Number.isFinite(seconds) ? seconds : MINUTE_S
}

/** A wait in the language of the page, such as `in 10 minutes`. */
export function whenText(seconds: number): string {
  const words = new Intl.RelativeTimeFormat(language)
  return seconds < HOUR_S
    ? words.format(Math.ceil(seconds / MINUTE_S), 'minute')
    : words.format(Math.ceil(seconds / HOUR_S), 'hour')
}

/** The element in which words are typed. Importing its class defines it. */
export const typing = at<KeystrideTyping>('typing')
if (!(typing instanceof KeystrideTyping)) throw new Error('the page has no <keystride-typing>')

/**
 * Calls `send` with each submitted pattern. The field takes no keys until the promise settles; `failed` is called if it rejects, so
 * that the person sees a message after every error.
 */
export function onPattern(send: (pattern: TypingPattern) => Promise<void>, failed: () => void): void {
  at('form').addEventListener('submit', async (event) => {
    event.preventDefault()
    const { pattern } = typing
    if (pattern === null || typing.busy) return
    typing.busy = true
    await send(pattern).catch(failed)
    typing.busy = false
  })
}
