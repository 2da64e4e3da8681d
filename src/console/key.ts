import { storage } from './browser.js'

/**
 * The API key that the person signed in with. It is a variable of this module, and in the tab's sessionStorage only if the person
 * asked for that. Nothing else in the console holds it.
 */
const STORED = 'keystride-console'

/** The console locks after this time without use. */
export const IDLE_MS = 15 * 60_000

let held: string | null = null
let kept = false
let usedAt = Date.now()

export const heldKey = (): string | null => held

export function holdKey(key: string, keep: boolean): void {
  held = key
  kept = keep
  noteUse()
  store()
}

export function dropKey(): void {
  held = null
  kept = false
  storage?.removeItem(STORED)
}

/** The key that this tab kept before it was loaded again; null if there is none, or if it was not used for `IDLE_MS`. */
export function keptKey(): string | null {
  try {
    const { key, at } = JSON.parse(storage?.getItem(STORED) ?? '{}') as { key?: unknown; at?: unknown }
    if (typeof key === 'string' && typeof at === 'number' && Date.now() - at < IDLE_MS) return key
  } catch {
    // The stored text is not JSON, so the console did not write it.
  }
  storage?.removeItem(STORED)
  return null
}

export const noteUse = (): void => {
  usedAt = Date.now()
}

export const idleMs = (): number => Date.now() - usedAt

/** Stores the key with the time of its last use, for a reload. */
export function store(): void {
  if (kept) storage?.setItem(STORED, JSON.stringify({ key: held, at: usedAt }))
}
