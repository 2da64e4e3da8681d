/**
 * The features of a browser that it may refuse to the console: languages, the tab's storage, the clipboard.
 * `main.tsx` imports it before any other module.
 */

/** The language of the script, which the build defines. */
declare const LANGUAGE: string

/** Whether `Intl` knows a language: it throws for a tag such as `en-US@posix`. */
function isKnown(tag: string): boolean {
  try {
    return Intl.NumberFormat.supportedLocalesOf(tag).length > 0
  } catch {
    return false
  }
}

/** The viewer's form of the console's language, such as `en-GB`: texts and numbers of one view are in one language. */
export const LOCALE: string =
  (navigator.languages ?? []).find((one) => (one === LANGUAGE || one.startsWith(`${LANGUAGE}-`)) && isKnown(one)) ??
  LANGUAGE

// uPlot creates a number format for `navigator.language` while it is loaded.
if (!isKnown(navigator.language)) Object.defineProperty(navigator, 'language', { value: LOCALE })

/** The tab's storage; null where the browser blocks the data of sites. */
export const storage: Storage | null = storageOf()

function storageOf(): Storage | null {
  try {
    sessionStorage.setItem('keystride-probe', '')
    sessionStorage.removeItem('keystride-probe')
    return sessionStorage
  } catch {
    return null
  }
}

/** Copies a text. Rejects with an error that says `failed` where the browser allows no page to copy. */
export async function copyText(text: string, failed: string): Promise<void> {
  try {
    // `navigator.clipboard` is absent over plain http.
    await navigator.clipboard.writeText(text)
  } catch {
    if (!copySelection(text)) throw new Error(failed)
  }
}

/** Copies without the clipboard API. The field is in the open dialog, because the rest of the page takes no focus. */
function copySelection(text: string): boolean {
  const before = document.activeElement
  const field = document.createElement('textarea')
  field.value = text
  ;(document.querySelector('dialog[open]') ?? document.body).append(field)
  field.select()
  const copied = document.execCommand('copy')
  field.remove()
  if (before instanceof HTMLElement) before.focus()
  return copied
}

/** A key or reference without outer spaces and without the invisible marks of copied text. */
export const withoutMarks = (text: string): string => text.replace(/\p{Cf}/gu, '').trim()
