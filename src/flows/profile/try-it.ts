import type { LinkProgress } from '../../domain/profile-link.js'
import { Refusal } from '../../domain/refusal.js'
import type { RecommendedAction, VerdictReason } from '../../domain/verdict.js'
import type { Explanation } from '../../scoring/explanation.js'
import type { ProfileStore } from '../../storage/profile.js'
import type { Vault } from '../../storage/vault.js'
import type { AccountFlows } from '../account/accounts.js'
import type { VerifyAnswer } from '../attempt/answer.js'
import type { VerifyFlow } from '../attempt/verify.js'
import type { LanguageHints, SuggestedWords } from '../organization/suggested-words.js'
import { sha256Hex } from '../process/tokens.js'
import type { BootstrapFlow } from '../session/bootstrap.js'
import type { Designation } from '../session/person.js'
import type { EnrollFlow } from './enroll.js'

interface Needs {
  readonly accounts: AccountFlows
  readonly bootstrap: BootstrapFlow
  readonly enroll: EnrollFlow
  readonly verify: VerifyFlow
  readonly profiles: ProfileStore
  readonly vault: Vault
  /** Explains a comparison of samples; null without references. */
  readonly explain: (probe: Uint8Array, references: readonly Uint8Array[]) => Explanation | null
  /** The demo organization; null if none. */
  readonly demoOrganizationId: () => Promise<string | null>
  readonly newToken: () => string
}

/** The words to type next, and the key of the next call: it names the visitor and the session of these words. */
interface TryWords {
  readonly key: string
  readonly words: SuggestedWords
}

interface TryStep extends LinkProgress, TryWords {
  readonly enrolled: boolean
}

interface TryVerdict extends TryWords {
  /** 0 to 1; null if nothing was scored, because too many attempts failed. */
  readonly confidence: number | null
  readonly recommendedAction: RecommendedAction
  readonly reason: VerdictReason
  /** Seconds until the next attempt is scored. */
  readonly waitS: number
  readonly explanation: Explanation | null
}

/** Lets a visitor try the product, with an ordinary account of the demo organization and a key held by the page. */
export interface TryFlows {
  begin(hints: LanguageHints): Promise<TryStep>
  /** The words to type after a pattern with another text: those that the session has, or those of a new one. */
  words(key: string, hints: LanguageHints): Promise<TryWords>
  enroll(key: string, body: Uint8Array, hints: LanguageHints): Promise<TryStep>
  verify(key: string, body: Uint8Array, hints: LanguageHints): Promise<TryVerdict>
  /** Deletes the account with everything that was typed. */
  forget(key: string): Promise<void>
}

/** Most visitors' accounts per process; the oldest is deleted first. No measurement behind it. */
const PEOPLE_MAX = 100

export function createTryIt(needs: Needs): TryFlows {
  const kept: Designation[] = []

  async function visitorOf(key: string): Promise<Designation> {
    const organizationId = await needs.demoOrganizationId()
    if (organizationId === null) throw new Refusal('user-not-found', 'there is no demo organization')
    return { organizationId, userRef: `try-${sha256Hex(partsOf(key).visitor).slice(0, 24)}`, memberRef: null }
  }

  /** A session that ended is replaced, with other words. */
  async function session(who: Designation, key: string, hints: LanguageHints) {
    const { visitor, token } = partsOf(key)
    const begun = await needs.bootstrap(who, token, hints)
    return { ...begun, key: keyOf(visitor, begun.sessionToken) }
  }

  return {
    async begin(hints) {
      const visitor = needs.newToken()
      const who = await visitorOf(visitor)
      await needs.accounts.create(who, { type: 'nominative', displayName: 'Somebody who tries', withCode: false })
      kept.push(who)
      const oldest = kept.length > PEOPLE_MAX ? kept.shift() : undefined
      if (oldest !== undefined) await removeVisitor(needs, oldest)
      const { key, words, targetRefPatterns } = await session(who, visitor, hints)
      return { key, nPatterns: 0, targetPatterns: targetRefPatterns, enrolled: false, words }
    },

    async words(key, hints) {
      const begun = await session(await visitorOf(key), key, hints)
      return { key: begun.key, words: begun.words }
    },

    async enroll(given, body, hints) {
      const who = await visitorOf(given)
      const { sessionToken, key } = await session(who, given, hints)
      const { nPatternsRef, targetRefPatterns, words } = await needs.enroll(
        who,
        sessionToken,
        { kind: 'pattern', body },
        required(hints),
      )
      const enrolled = nPatternsRef >= targetRefPatterns
      return { key, nPatterns: nPatternsRef, targetPatterns: targetRefPatterns, enrolled, words }
    },

    async verify(given, body, hints) {
      const who = await visitorOf(given)
      const { sessionToken } = await session(who, given, hints)
      const answer = await needs.verify(who, sessionToken, { kind: 'pattern', body }, required(hints))
      const { authentication, next } = answer
      // A session has three attempts, and a visitor tries as often as the locks allow.
      const { key, words } = await session(who, partsOf(given).visitor, hints)
      return {
        key,
        words,
        confidence: authentication?.confidence ?? null,
        recommendedAction: authentication?.recommendedAction ?? 'block',
        reason: authentication?.reason ?? '',
        waitS: next?.mode === 'biometric' ? 0 : (next?.retryAfterSeconds ?? 0),
        explanation: await explained(needs, who, answer),
      }
    },

    async forget(key) {
      await removeVisitor(needs, await visitorOf(key))
    },
  }
}

const required = (hints: LanguageHints): LanguageHints => ({ ...hints, words: 'require' })

/** A visitor's secret and the token of a session, in base64url. */
const keyOf = (visitor: string, token: string): string => `${visitor}.${token}`
function partsOf(key: string): { readonly visitor: string; readonly token: string | null } {
  const [visitor = '', token] = key.split('.')
  return { visitor, token: token ?? null }
}

async function explained(
  needs: Needs,
  { organizationId }: Designation,
  { account, member, authentication }: VerifyAnswer,
) {
  const { patternId = null, sealed = null } = authentication ?? {}
  if (patternId === null || sealed === null) return null
  const stored = await needs.profiles.references(organizationId, member.id)
  const open = (patternId: string, sealed: Uint8Array) =>
    needs.vault.open(
      organizationId,
      { accountId: account.id, memberId: member.id, patternId, generation: member.generation },
      sealed,
    )
  const enrolled = stored.filter(({ kind }) => kind === 'enrolled')
  const references = await Promise.all(enrolled.map(({ id, sealed }) => open(id, sealed)))
  return needs.explain(await open(patternId, sealed), references)
}

/** Idempotent. */
async function removeVisitor(needs: Needs, who: Designation): Promise<void> {
  try {
    await needs.accounts.remove(who)
  } catch (error) {
    if (!(error instanceof Refusal) || error.kind !== 'user-not-found') throw error
  }
}
