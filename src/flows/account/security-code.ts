import type { Member } from '../../domain/account.js'
import { Refusal, userNotFound } from '../../domain/refusal.js'
import {
  afterIssue,
  type CodeRules,
  PREVIOUS_CODE,
  pickCode,
  TEMPORARY_CODE_MS,
  weakness,
} from '../../domain/security-code.js'
import type { AccountStore } from '../../storage/account.js'
import type { CodeHash } from '../../storage/code-hash.js'
import type { NewCode, SecurityCodeStore, StoredCode } from '../../storage/security-code.js'
import type { SessionStore } from '../../storage/session.js'
import { type Settings, settingsFor } from '../organization/settings.js'
import { endingSessions } from '../session/ending-sessions.js'
import { bindSession, type Designation, findPerson, type Person, requireSession } from '../session/person.js'

interface Needs {
  readonly accounts: AccountStore
  readonly securityCodes: SecurityCodeStore
  readonly codeHash: CodeHash
  readonly sessions: SessionStore
  readonly settingsOf: (organizationId: string) => Promise<Settings>
  readonly now: () => number
  /** `count` independent, uniform decimal digits. */
  readonly randomDigits: (count: number) => string
}

/** The owner of a code. */
interface CodeHolder extends Person {
  readonly organizationId: string
}

/** A temporary code, which is shown once, and the member that has it. */
interface IssuedCode {
  readonly code: string
  readonly member: Member
}

/** Changes of a member's code. `choose`, `issue` and `clear` end the member's other sessions. */
export interface SecurityCodeFlows {
  /** Sets a code that the member chose; refuses a weak code and the two latest ones. */
  choose(who: Designation, token: string, code: string): Promise<void>
  /** Issues a temporary code; refuses with `rate-limited` after five within an hour. */
  issue(who: Designation, token: string): Promise<string>
  /** Issues a temporary code to a member without a code; null if the member has a code. Ends no session. */
  issueFirst(holder: CodeHolder): Promise<IssuedCode | null>
  clear(who: Designation, token: string): Promise<void>
}

/** Most rounds after concurrent changes of one code. More rounds mean that the store is unhealthy. */
const ROUNDS_MAX = 10

export function createSecurityCodeFlows(needs: Needs): SecurityCodeFlows {
  return {
    async choose(who, token, code) {
      const { holder, ending } = await holderOf(needs, who, token)
      const weak = weakness(code, await rulesFor(needs, holder))
      if (weak !== null) throw new Refusal('security-code-weak', `securityCode: ${weak}`)
      const decide = async (stored: StoredCode) => {
        if (await usedBefore(needs, holder, stored, code)) {
          throw new Refusal('security-code-weak', `securityCode: ${PREVIOUS_CODE}`)
        }
        const hash = await hashed(needs, holder, code)
        return { hash, expiresAt: null, issued: stored.issued, setAt: needs.now() }
      }
      await change(needs, holder, decide, ending)
    },

    async issue(who, token) {
      const { holder, ending } = await holderOf(needs, who, token)
      let code = ''
      const decide = async (stored: StoredCode) => {
        const made = await temporary(needs, holder, stored)
        code = made.code
        return made.toStore
      }
      await change(needs, holder, decide, ending)
      return code
    },

    async issueFirst(holder) {
      let code = ''
      const member = await change(needs, holder, async (stored) => {
        if (stored.hash !== null) return null
        const made = await temporary(needs, holder, stored)
        code = made.code
        return made.toStore
      })
      return member === null ? null : { code, member }
    },

    async clear(who, token) {
      const { holder, ending } = await holderOf(needs, who, token)
      await ending(async () => {
        if ((await needs.securityCodes.clear(who.organizationId, holder.member.id)) === null) throw userNotFound()
      })
    },
  }
}

/** Runs work after which older sessions must not go on, and ends them. */
type Ending = <T>(work: () => Promise<T>) => Promise<T>

/** The member of a call in a live session; `ending` ends the member's other sessions. */
async function holderOf(needs: Needs, who: Designation, token: string) {
  const { organizationId, userRef } = who
  const session = await requireSession(needs.sessions, who, token)
  const person = await findPerson(needs.accounts, { ...who, memberRef: who.memberRef ?? session.memberRef })
  await bindSession(needs.sessions, who, session, person)
  const holder: CodeHolder = { organizationId, ...person }
  const endOthers = () => needs.sessions.endAll(organizationId, userRef, person.member.memberRef, session.sha256)
  // The call succeeds even if the store is late: a session begun meanwhile has proved nothing yet.
  const endBegun = () =>
    endOthers().catch((error: unknown) => {
      if (!(error instanceof Refusal && error.kind === 'degraded')) throw error
    })
  const ending: Ending = (work) => endingSessions(endOthers, work, endBegun)
  return { holder, ending }
}

async function rulesFor(needs: Needs, { organizationId, account, member }: CodeHolder): Promise<CodeRules> {
  const { policy } = settingsFor(await needs.settingsOf(organizationId), account)
  return { policy: policy.policy.security_code_fallback, refs: [account.userRef, member.memberRef] }
}

/** Reads, decides and writes; retries after a concurrent change. Null if `decide` returns null. */
async function change(
  needs: Needs,
  { organizationId, member }: CodeHolder,
  decide: (stored: StoredCode) => Promise<NewCode | null>,
  ending: Ending = (write) => write(),
): Promise<Member | null> {
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const stored = await needs.securityCodes.find(organizationId, member.id)
    if (stored === null) throw userNotFound()
    const code = await decide(stored)
    if (code === null) return null
    const changed = await ending(() => needs.securityCodes.set(organizationId, member.id, stored.version, code))
    if (changed.outcome === 'changed') return changed.member
  }
  throw new Refusal('degraded', 'too many changes of this code at once: try again', 1)
}

/** A code that is neither weak nor one of the two latest. With four digits, one pick in 4,000 is one of those. */
async function temporary(needs: Needs, holder: CodeHolder, stored: StoredCode) {
  const at = needs.now()
  const issue = afterIssue(stored.issued, at)
  if ('waitMs' in issue) throw tooMany(issue.waitMs)
  const rules = await rulesFor(needs, holder)
  let code = pickCode(rules, needs.randomDigits)
  while (await usedBefore(needs, holder, stored, code)) code = pickCode(rules, needs.randomDigits)
  const hash = await hashed(needs, holder, code)
  const toStore: NewCode = { hash, expiresAt: at + TEMPORARY_CODE_MS, issued: issue.issued, setAt: at }
  return { code, toStore }
}

const hashed = (needs: Needs, { organizationId, member }: CodeHolder, code: string) =>
  needs.codeHash.hash({ organizationId, memberId: member.id }, code)

async function usedBefore(
  needs: Needs,
  { organizationId, member }: CodeHolder,
  { hash, previousHash }: StoredCode,
  code: string,
): Promise<boolean> {
  for (const kept of [hash, previousHash]) {
    if (kept !== null && (await needs.codeHash.matches({ organizationId, memberId: member.id }, code, kept)))
      return true
  }
  return false
}

const tooMany = (waitMs: number) =>
  new Refusal('rate-limited', 'this member was given too many temporary codes within an hour', Math.ceil(waitMs / 1000))
