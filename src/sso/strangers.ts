import { createHmac, timingSafeEqual } from 'node:crypto'
import type { AttemptKind } from '../domain/attempts.js'
import { OWN_BROWSER_MS } from '../domain/stranger-tries.js'
import type { StrangerOutcome, StrangerTryStore } from '../storage/stranger-tries.js'
import type { SignIn } from './core.js'

interface Needs {
  readonly organizationId: string
  readonly strangerTries: StrangerTryStore
  /** Secrets that sign, the present one first. */
  readonly cookieKeys: () => readonly string[]
  readonly now: () => number
}

/** A stranger has no try of that kind for `waitMs`; null if only a sign-in of the person, an unlock or a reset gives one. */
interface NoTry {
  readonly kind: 'no-try'
  readonly waitMs: number | null
}

/**
 * A person's own browser is one that has signed in as the person; it has a signed cookie, bound to the person. All other browsers are
 * strangers. They have few tries, so that their failures lock nobody: see `STRANGER_LIMITS`.
 */
export interface Strangers {
  /** Value of the cookie for a browser that has just signed in; null if the person has no account any more. */
  cookieOf(userRef: string): Promise<string | null>
  isOwn(userRef: string, cookie: string | null): Promise<boolean>
  /** Makes a stranger's attempt if a try is left. */
  attempt(userRef: string, kind: AttemptKind, attempt: () => Promise<SignIn>): Promise<SignIn | NoTry>
  /** Null if a try by typing is left. */
  peek(userRef: string): Promise<NoTry | null>
}

export function createStrangers({ organizationId, strangerTries, cookieKeys, now }: Needs): Strangers {
  const member = (userRef: string) => strangerTries.member(organizationId, userRef)
  return {
    async cookieOf(userRef) {
      const found = await member(userRef)
      const [key] = cookieKeys()
      if (found === null || key === undefined) return null
      const at = now()
      return `${at}.${macOf(key, found.memberId, at)}`
    },

    async isOwn(userRef, cookie) {
      const [, signed = '', mac = ''] = /^(\d{1,15})\.([\w-]{43})$/.exec(cookie ?? '') ?? []
      const at = Number(signed)
      if (mac === '' || at + OWN_BROWSER_MS <= now()) return false
      const found = await member(userRef)
      if (found === null || at <= found.ownersFrom) return false
      return cookieKeys().some((key) => timingSafeEqual(Buffer.from(mac), Buffer.from(macOf(key, found.memberId, at))))
    },

    async attempt(userRef, kind, attempt) {
      const found = await member(userRef)
      // A deleted account has nothing to protect; the core API answers that it does not exist.
      if (found === null) return attempt()
      const { memberId } = found
      const tried = await strangerTries.take(organizationId, memberId, kind)
      if (tried.taken === null) return { kind: 'no-try', waitMs: tried.waitMs }
      let outcome: StrangerOutcome = 'free'
      try {
        const answer = await attempt()
        outcome = outcomeOf(kind, answer)
        return answer
      } finally {
        await strangerTries.settle(organizationId, memberId, tried.taken, outcome)
      }
    },

    async peek(userRef) {
      const found = await member(userRef)
      if (found === null) return null
      const none = await strangerTries.peek(organizationId, found.memberId, 'biometric')
      return none === null ? null : { kind: 'no-try', waitMs: none.waitMs }
    },
  }
}

/** A MAC over the member's id, not the reference, so that a person who is created again counts as another one. */
const macOf = (key: string, memberId: string, at: number): string =>
  createHmac('sha256', key).update(`keystride own browser 1\0${memberId}\0${at}`).digest('base64url')

/** A refusal by the core API uses up no try, because it is no failure; the member's own limits hold in any case. */
function outcomeOf(kind: AttemptKind, answer: SignIn): StrangerOutcome {
  if (answer.kind === 'blocked') return 'failed'
  if (answer.kind === 'challenged') return answer.by === 'typing' ? 'failed' : 'free'
  const again = 'again' in answer ? answer.again : null
  return kind === 'biometric' && again === 'invalid-data' ? 'invalid' : 'free'
}
