import { signal } from '@preact/signals'
import type { CallingKey, Data } from './answers.js'
import { ApiError, call, whenKeyRefused } from './api.js'
import { dropKey, heldKey, holdKey, IDLE_MS, idleMs, keptKey, noteUse, store } from './key.js'

/** The calls that a key opens. */
interface Access {
  readonly reads: boolean
  readonly operates: boolean
  /** Calls of the core API, such as the deletion of users. */
  readonly core: boolean
  /** Calls of the profile-link API. */
  readonly links: boolean
}

export type SignInState =
  | { readonly kind: 'starting' }
  | { readonly kind: 'out'; readonly why: 'idle' | 'refused' | null }
  | { readonly kind: 'in'; readonly access: Access }

export const session = signal<SignInState>({ kind: 'starting' })

/** The access of the signed-in key; `NOTHING` while signed out. */
export const access = (): Access => (session.value.kind === 'in' ? session.value.access : NOTHING)

const NOTHING: Access = { reads: false, operates: false, core: false, links: false }

/**
 * Signs in with a key, and keeps it in the tab's sessionStorage if `keep`. Rejects with an `ApiError`, of status 401 for an unknown
 * key.
 */
export async function signIn(key: string, keep: boolean): Promise<void> {
  // A header cannot hold other characters.
  if (!/^[!-~]+$/.test(key)) throw new ApiError(401, '', null, null)
  const opened = await accessOf(key)
  holdKey(key, keep)
  session.value = { kind: 'in', access: opened }
}

export function signOut(why: 'idle' | 'refused' | null = null): void {
  dropKey()
  session.value = { kind: 'out', why }
}

/** The calls that a key opens. A key that does not open the dashboard API opens nothing of the console. */
async function accessOf(key: string): Promise<Access> {
  try {
    const { may } = (await call<Data<CallingKey>>('GET', '/key', { key })).data
    return { reads: may.read, operates: may.operate, core: may.core, links: may.links }
  } catch (error) {
    if (error instanceof ApiError && error.status === 403) return NOTHING
    throw error
  }
}

const IDLE_CHECK_MS = 10_000

/** Restores the key that the tab kept. From then on, signs out when the key is refused, or unused for `IDLE_MS`. */
export async function begin(): Promise<void> {
  whenKeyRefused(() => signOut('refused'))
  for (const type of ['pointerdown', 'keydown', 'wheel', 'touchstart'])
    addEventListener(type, noteUse, { capture: true, passive: true })
  const endIfIdle = () => {
    if (heldKey() === null) return
    if (idleMs() >= IDLE_MS) signOut('idle')
    else store()
  }
  setInterval(endIfIdle, IDLE_CHECK_MS)
  // Timers of a hidden tab are late.
  addEventListener('visibilitychange', endIfIdle)
  addEventListener('pagehide', endIfIdle)
  const key = keptKey()
  if (key === null) session.value = { kind: 'out', why: null }
  else await signIn(key, true).catch(() => signOut())
}
