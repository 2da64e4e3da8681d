import type { ProfileTargets } from '../../domain/biometric-status.js'
import { Refusal, userNotFound } from '../../domain/refusal.js'
import type { AccountStore } from '../../storage/account.js'
import type { AuthenticationStore } from '../../storage/authentication.js'
import type { CodeHash } from '../../storage/code-hash.js'
import type { SecurityCodeStore } from '../../storage/security-code.js'
import type { SessionStore } from '../../storage/session.js'
import type { Settings } from '../organization/settings.js'
import type { LanguageHints } from '../organization/suggested-words.js'
import type { Designation, Presented } from '../session/person.js'
import { begin, closedBy, closedByNow, release, reserve, type Situation } from './attempt-context.js'
import { answerOf, type Judge, type Judged, settle, unjudged, type VerifyAnswer } from './attempt-record.js'

interface Needs {
  readonly accounts: AccountStore
  readonly authentications: AuthenticationStore
  readonly securityCodes: SecurityCodeStore
  readonly codeHash: CodeHash
  readonly sessions: SessionStore
  readonly settingsOf: (organizationId: string) => Promise<Settings>
  readonly targets: ProfileTargets
  readonly newId: () => string
  readonly now: () => number
  readonly randomSeed: () => number
}

export type VerifyCodeFlow = (
  who: Designation,
  token: Presented,
  code: string,
  hints: LanguageHints,
) => Promise<VerifyAnswer>

/**
 * Judges one security code, in the order of a typing pattern: session and budgets, the reservation, the comparison, one
 * transaction with the record and the counters, the answer. While the code is not open nothing is compared or counted.
 * Our choice: a code marks no session as authenticated, so it opens no finished profile to further references.
 */
export function createVerifyCode(needs: Needs): VerifyCodeFlow {
  return async (who, token, code, hints) => {
    const before = await begin(needs, 'security_code', who, token, hints)
    const closed = closedBy(needs, before)
    if (closed !== null) {
      // As slow as a comparison, so that time does not tell whether there is a code.
      if (!before.member.code.set) await needs.codeHash.matches(ownerOf(before), code, null)
      return answerOf(needs, unjudged(before, closed))
    }
    const reserved = await reserve(needs, before)
    if (!reserved.open) return answerOf(needs, unjudged(reserved, 'session-used-up'))
    const compared = await compare(needs, reserved, code)
    return answerOf(needs, await settle(needs, reserved, judgeOf(needs, code, compared), noReplay))
  }
}

/** A code leaves no mark that could be known. */
const noReplay = async (): Promise<boolean> => true

/** What one comparison has shown. */
interface Compared {
  readonly right: boolean
  /** The code's version that was compared. */
  readonly version: number
}

async function compare(needs: Needs, situation: Situation, code: string): Promise<Compared> {
  const { organizationId } = situation.who
  const stored = await needs.securityCodes.find(organizationId, situation.member.id)
  if (stored === null) throw userNotFound()
  try {
    return { right: await needs.codeHash.matches(ownerOf(situation), code, stored.hash), version: stored.version }
  } catch (error) {
    // Too many wait: nothing was compared, so nothing was learned.
    if (error instanceof Refusal) await release(needs, situation)
    throw error
  }
}

/** A comparison holds for the code it was made with, while that is open: another code is compared anew. */
function judgeOf(needs: Needs, code: string, first: Compared): Judge<Judged> {
  let compared = first
  return async (situation) => {
    const closed = closedByNow(needs, situation)
    if (closed !== null) return closed
    if (situation.member.code.version !== compared.version) compared = await compare(needs, situation, code)
    const { right } = compared
    return {
      verdict: { recommendedAction: right ? 'auth' : 'block', confidence: 0, reason: '' },
      confidenceBiometrics: 0,
      confidenceContext: null,
      nPatternsRefUsed: 0,
      recognizedUser: false,
      pattern: null,
      replayMark: null,
      facts: null,
      habits: null,
    }
  }
}

const ownerOf = ({ who, member }: Situation) => ({ organizationId: who.organizationId, memberId: member.id })
