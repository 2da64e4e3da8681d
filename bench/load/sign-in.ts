import { type Asking, type AskingNeeds, type Member, type Turn, words } from './asking.js'
import type { Json } from './client.js'
import { patternBody } from './pattern-body.js'
import type { Typist } from './typists.js'

/** Patterns that a person types again after a failure, while the service says that typing is open. */
const RETYPES = 2
/** Share of sign-ins whose page is loaded twice: the second bootstrap carries the session and has to get it back. */
const RELOADS = 0.02

/** Sound: a non-null object has string keys; its values stay unknown. */
const object = (value: unknown): Json => (typeof value === 'object' && value !== null ? (value as Json) : {})

/** A sign-in under way; pauses are no latency. */
interface Going extends Turn {
  readonly paused: { ms: number }
}

/** Who signs in by what. */
interface How {
  /** Who types in the member's place; null for the member. */
  readonly thief: Member | null
  /** By a member who has a code: gives it at once, without typing. */
  readonly givesCode: boolean
}

/** What people do with the service, each a few requests one after the other. Answers are checked, and everything counted. */
export function signIns(needs: AskingNeeds, { random, count, sound, path, bootstrap }: Asking) {
  const { client, recorder, thinkMs } = needs
  async function verify(member: Member, turn: Turn, session: string, body: string, operation: 'verify' | 'code') {
    const answer = await client.ask({
      ...turn,
      operation,
      method: 'POST',
      path: `${path(member)}/verify`,
      session,
      body,
      wanted: [200],
    })
    if (answer === null || !answer.ok) return null
    const authentication = object(answer.json.authentication)
    const { authenticated, recommendedAction, authMethod } = authentication
    const known = ['auth', 'challenge', 'block'].includes(String(recommendedAction))
    const faults = {
      'no verdict': typeof authenticated !== 'boolean' || !known,
      'authenticated without auth': authenticated === true && recommendedAction !== 'auth',
      'another method': authMethod !== (operation === 'code' ? 'security_code' : 'biometric'),
    }
    if (!sound(turn, operation, faults)) return null
    const { action, reason } = answer.json
    const next = object(answer.json.nextAttempt)
    if (action === 'refused') count(turn, 'attempts_refused')
    if (next.mode === 'locked' && member.lockedUntil <= Date.now()) {
      const seconds = typeof next.retryAfterSeconds === 'number' ? next.retryAfterSeconds : Number.POSITIVE_INFINITY
      member.lockedUntil = Date.now() + Math.max(1, seconds) * 1000
      if (seconds > 0) count(turn, 'members_locked')
    }
    return { authenticated: authenticated === true, action, reason, recommendedAction, next, words: words(answer.json) }
  }

  /** As long as a person types. Gives the turn of what comes after it. */
  async function pause(going: Going): Promise<Going> {
    const intended = performance.now() + thinkMs
    if (thinkMs > 0) {
      await new Promise<void>((go) => setTimeout(go, thinkMs))
      going.paused.ms += thinkMs
    }
    return { ...going, intended }
  }

  const typedBy = (typist: Typist, member: Member, typed: readonly string[], n: number) =>
    patternBody(typist.signsIn(typed, n), Date.now(), member.ip)

  async function impostor(member: Member, turn: Turn, session: string, typed: readonly string[], thief: Member) {
    const verdict = await verify(member, turn, session, typedBy(thief.typist, member, typed, thief.typed++), 'verify')
    if (verdict === null) return false
    if (verdict.action !== 'refused') count(turn, 'impostor_patterns')
    if (verdict.authenticated) count(turn, 'impostor_accepted')
    return true
  }

  /** Types, types again, or gives the code where the answer asks for more: what a person at the keyboard would do. */
  async function genuine(
    member: Member,
    first: Going,
    session: string,
    suggested: readonly string[],
  ): Promise<boolean> {
    let [turn, typed] = [first, suggested]
    count(turn, 'genuine_signins')
    for (let tries = 0; tries <= RETYPES; tries++) {
      const verdict = await verify(
        member,
        turn,
        session,
        typedBy(member.typist, member, typed, member.typed++),
        'verify',
      )
      if (verdict === null) return false
      if (verdict.action !== 'refused') countGenuine(turn, verdict)
      if (verdict.authenticated) {
        count(turn, 'genuine_signins_authenticated')
        return true
      }
      const mode = verdict.next.mode
      if (member.code !== null && (verdict.recommendedAction === 'challenge' || mode === 'security_code'))
        return byCode(member, await pause(turn), session, member.code)
      if (mode !== 'biometric') return true
      typed = verdict.words
      turn = await pause(turn)
    }
    return true
  }

  async function byCode(member: Member, turn: Turn, session: string, securityCode: string): Promise<boolean> {
    const verdict = await verify(member, turn, session, JSON.stringify({ securityCode }), 'code')
    if (verdict === null) return false
    if (verdict.action !== 'refused') count(turn, 'codes')
    if (verdict.authenticated)
      for (const name of ['codes_accepted', 'genuine_signins_authenticated'] as const) count(turn, name)
    return true
  }

  function countGenuine(turn: Turn, { authenticated, recommendedAction, reason }: Json): void {
    count(turn, 'genuine_patterns')
    if (authenticated) count(turn, 'genuine_accepted')
    else if (reason === 'detection-bot') count(turn, 'genuine_called_bots')
    else if (reason === 'fraud-detected') count(turn, 'genuine_called_replays')
    else count(turn, recommendedAction === 'challenge' ? 'genuine_challenged' : 'genuine_blocked')
  }

  /** True where the sign-in came to its verdict, whatever that was: an error on the way ends it. */
  function given(member: Member, turn: Going, session: string, suggested: readonly string[], how: How) {
    if (how.thief !== null) return impostor(member, turn, session, suggested, how.thief)
    if (!how.givesCode || member.code === null) return genuine(member, turn, session, suggested)
    count(turn, 'genuine_signins')
    return byCode(member, turn, session, member.code)
  }

  return {
    async signIn(member: Member, turn: Turn, how: How): Promise<void> {
      count(turn, 'signins_begun')
      const begun = await bootstrap(member, turn)
      if (begun === null) return
      if (random() < RELOADS) {
        const again = await bootstrap(member, { ...turn, intended: performance.now() }, begun.session)
        if (again === null) return
      }
      const paused = { ms: 0 }
      const typing = await pause({ ...turn, paused })
      if (!(await given(member, typing, begun.session, words(begun.json), how))) return
      count(turn, 'signins_completed')
      if (turn.counted) recorder.of('signin').latency.record(performance.now() - turn.intended - paused.ms)
    },
  }
}
