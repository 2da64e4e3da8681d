import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { Refusal } from '../../src/domain/refusal.js'
import { sha256Hex } from '../../src/flows/process/tokens.js'
import type { SessionStore } from '../../src/storage/session.js'
import type { Unit } from './generator.js'
import { userRef, VERIFIED_FROM } from './people.js'

/** Verifies that a session allows. */
export const A_SESSION = 3
const SESSION_MS = 3_600_000
const AT_ONCE = 32
/** Tries: on a busy machine a store may be unreachable for a moment. Nothing is measured here. */
const TRIES = 40
const RETRY_MS = 250

type Mint = (session: string, userRef: string) => Promise<void>

/** Mints sessions directly in a store. */
export function mintIn(store: Pick<SessionStore, 'mint'>, organizationId: string): Mint {
  const mint = async (session: string, who: string, tries = 0): Promise<void> => {
    const minted = { sha256: sha256Hex(session), userRef: who, memberRef: who, lifetimeMs: SESSION_MS }
    try {
      await store.mint(organizationId, minted)
    } catch (error) {
      if (!(error instanceof Refusal) || tries === TRIES) throw error
      await delay(RETRY_MS)
      await mint(session, who, tries + 1)
    }
  }
  return mint
}

/** Creates units with unused typing: each ordinal is used once. Adjacent units have different people, from `first` on. */
export function unitsFor(people: number, first = 0) {
  const typed = new Array<number>(people).fill(VERIFIED_FROM)
  let person = 0
  const unit = async (mint: Mint, each: number): Promise<Unit> => {
    const index = person++ % people
    const from = typed[index] ?? VERIFIED_FROM
    typed[index] = from + each
    const session = randomBytes(32).toString('base64url')
    await mint(session, userRef(first + index))
    return { person: first + index, session, ordinals: Array.from({ length: each }, (_, i) => from + i) }
  }
  return async (count: number, mint: Mint, each = A_SESSION): Promise<Unit[]> => {
    const made: Unit[] = []
    while (made.length < count) {
      const more = Math.min(AT_ONCE, count - made.length)
      made.push(...(await Promise.all(Array.from({ length: more }, () => unit(mint, each)))))
    }
    return made
  }
}
