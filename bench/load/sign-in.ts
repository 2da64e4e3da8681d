import { type Asking, type AskingNeeds, type Member, type Visit, words } from './asking.js'
import type { Json } from './client.js'
import { patternBody } from './pattern-body.js'

/** Most repetitions of a pattern after a failure, while typing is open. */
const RETYPES = 2
/** Share of sign-ins that load the page twice: the second bootstrap sends the session and must get it back. */
const RELOADS = 0.02

/** Sound: a non-null object has string keys; its values stay unknown. */
const object = (value: unknown): Json => (typeof value === 'object' && value !== null ? (value as Json) : {})

/** The person that types, and the method. */
interface How {
  /** The impostor that types; null for the member. */
  readonly thief: Member | null
  /** A member with a code gives it at once, without typing. */
  readonly givesCode: boolean
}

/** An open session of a member, and the visit that its next request belongs to. */
interface OpenSession {
  readonly member: Member
  readonly visit: Visit
  readonly session: string
}

/** Simulates sign-ins, each a sequence of a few requests. Checks every answer and counts all figures. */
export class SignIns {
  constructor(
    private readonly needs: AskingNeeds,
    private readonly asking: Asking,
  ) {}

  async signIn(member: Member, visit: Visit, how: How): Promise<void> {
    const { random, count, bootstrap } = this.asking
    count(visit, 'signins_begun')
    const begun = await bootstrap(member, visit)
    if (begun === null) return
    if (random() < RELOADS) {
      const again = await bootstrap(member, dueNow(visit), begun.session)
      if (again === null) return
    }
    const open = { member, visit: dueNow(visit), session: begun.session }
    if (!(await this.attempts(open, words(begun.json), how))) return
    count(visit, 'signins_completed')
    if (visit.counted) this.needs.recorder.of('signin').latency.record(performance.now() - visit.intended)
  }

  /** True if the sign-in reached a verdict of any kind; an error ends it. */
  private attempts(open: OpenSession, suggested: readonly string[], { thief, givesCode }: How) {
    const { code } = open.member
    if (thief !== null) return this.impostor(open, suggested, thief)
    if (!givesCode || code === null) return this.genuine(open, suggested)
    this.asking.count(open.visit, 'genuine_signins')
    return this.byCode(open, code)
  }

  private async impostor(open: OpenSession, typed: readonly string[], thief: Member) {
    const { count } = this.asking
    const { member, visit } = open
    const verdict = await this.verify(open, 'verify', typedBy(thief, member, typed))
    if (verdict === null) return false
    if (verdict.action !== 'refused') count(visit, 'impostor_patterns')
    if (verdict.authenticated) count(visit, 'impostor_accepted')
    return true
  }

  /** Types, and if the answer asks for more, types again or gives the code. */
  private async genuine(
    { member, visit: first, session }: OpenSession,
    suggested: readonly string[],
  ): Promise<boolean> {
    const { count } = this.asking
    let [visit, typed] = [first, suggested]
    count(visit, 'genuine_signins')
    for (let tries = 0; tries <= RETYPES; tries++) {
      const verdict = await this.verify({ member, visit, session }, 'verify', typedBy(member, member, typed))
      if (verdict === null) return false
      if (verdict.action !== 'refused') this.countGenuine(visit, verdict)
      if (verdict.authenticated) {
        count(visit, 'genuine_signins_authenticated')
        return true
      }
      const mode = verdict.next.mode
      if (member.code !== null && (verdict.recommendedAction === 'challenge' || mode === 'security_code'))
        return this.byCode({ member, visit: dueNow(visit), session }, member.code)
      if (mode !== 'biometric') return true
      typed = verdict.words
      visit = dueNow(visit)
    }
    return true
  }

  private async byCode(open: OpenSession, securityCode: string): Promise<boolean> {
    const { count } = this.asking
    const { visit } = open
    const verdict = await this.verify(open, 'code', JSON.stringify({ securityCode }))
    if (verdict === null) return false
    if (verdict.action !== 'refused') count(visit, 'codes')
    if (verdict.authenticated)
      for (const name of ['codes_accepted', 'genuine_signins_authenticated'] as const) count(visit, name)
    return true
  }

  /** Returns null if the request failed or its answer is wrong. */
  private async verify({ member, visit, session }: OpenSession, operation: 'verify' | 'code', body: string) {
    const { sound, path } = this.asking
    const answer = await this.needs.client.ask({
      ...visit,
      operation,
      method: 'POST',
      path: `${path(member)}/verify`,
      session,
      body,
      wanted: [200],
    })
    if (answer === null || !answer.ok) return null
    const { authenticated, recommendedAction, authMethod } = object(answer.json.authentication)
    const known = ['auth', 'challenge', 'block'].includes(String(recommendedAction))
    const faults = {
      'no verdict': typeof authenticated !== 'boolean' || !known,
      'authenticated without auth': authenticated === true && recommendedAction !== 'auth',
      'another method': authMethod !== (operation === 'code' ? 'security_code' : 'biometric'),
    }
    if (!sound(visit, operation, faults)) return null
    const { action, reason } = answer.json
    const next = object(answer.json.nextAttempt)
    if (action === 'refused') this.asking.count(visit, 'attempts_refused')
    if (next.mode === 'locked') this.noteLock(member, visit, next.retryAfterSeconds)
    return { authenticated: authenticated === true, action, reason, recommendedAction, next, words: words(answer.json) }
  }

  private noteLock(member: Member, visit: Visit, retryAfterSeconds: unknown): void {
    if (member.lockedUntil > Date.now()) return
    const seconds = typeof retryAfterSeconds === 'number' ? retryAfterSeconds : Number.POSITIVE_INFINITY
    member.lockedUntil = Date.now() + Math.max(1, seconds) * 1000
    if (seconds > 0) this.asking.count(visit, 'members_locked')
  }

  private countGenuine(visit: Visit, { authenticated, recommendedAction, reason }: Json): void {
    const { count } = this.asking
    count(visit, 'genuine_patterns')
    if (authenticated) count(visit, 'genuine_accepted')
    else if (reason === 'detection-bot') count(visit, 'genuine_called_bots')
    else if (reason === 'fraud-detected') count(visit, 'genuine_called_replays')
    else count(visit, recommendedAction === 'challenge' ? 'genuine_challenged' : 'genuine_blocked')
  }
}

/** The visit, whose next request is due now. */
const dueNow = (visit: Visit): Visit => ({ ...visit, intended: performance.now() })

/** The next pattern that `who` types at the member's device. */
const typedBy = (who: Member, { ip }: Member, typed: readonly string[]): string =>
  patternBody(who.typist.signsIn(typed, who.typed++), Date.now(), ip)
