import { Refusal } from '../domain/refusal.js'
import type { AccountFlows } from '../flows/account/accounts.js'
import type { SecurityCodeFlows } from '../flows/account/security-code.js'
import type { VerifyFlow } from '../flows/attempt/verify.js'
import type { EnrollFlow } from '../flows/profile/enroll.js'
import type { BootstrapFlow } from '../flows/session/bootstrap.js'
import { type MadeUpPerson, person as typistOf, wirePattern } from '../typist/made-up-person.js'
import { type Moment, monthOf } from './month.js'
import type { DemoPerson } from './people.js'

/** The flows of the service, with a clock that shows a moment of the month. */
interface Flows {
  readonly accounts: Pick<AccountFlows, 'create' | 'change'>
  readonly bootstrap: BootstrapFlow
  readonly enroll: EnrollFlow
  readonly verify: VerifyFlow
  readonly securityCodes: Pick<SecurityCodeFlows, 'choose'>
}

interface Needs {
  readonly organizationId: string
  /** The end of the month, epoch ms. */
  readonly now: number
  /** Creates the flows with this clock, which never goes back. */
  readonly flowsAt: (now: () => number) => Flows
  readonly signal: AbortSignal
}

/** People whose months are written concurrently. More would take as long, because one thread scores. No measurement behind it. */
const AT_ONCE = 6
const HINTS = { language: 'en', acceptLanguage: null }
/** Time between two tries of one session. */
const TRY_AGAIN_MS = 20_000
/** Most patterns that a person types to enroll: one in 500 is taken for a machine's. */
const TRIES_MAX = 20

/**
 * Writes a month: each event goes through the flows of the service, with a clock that shows the time of the event. So the service
 * itself has written each row: scored, judged by policy and context, counted and sealed. Rejects if the signal aborts, or a store
 * fails; the people made so far stay. The month of a person who is deleted meanwhile ends.
 */
export async function fillMonth({ organizationId, now, flowsAt, signal }: Needs): Promise<void> {
  const left = [...monthOf(now)]
  const failed = new AbortController()
  const stopped = AbortSignal.any([signal, failed.signal])
  const lane = async () => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      const [person, moments] = next
      const clock = { at: 0 }
      const life = createLife({ organizationId, person, flows: flowsAt(() => clock.at), clock })
      for (const moment of moments) {
        stopped.throwIfAborted()
        clock.at = Math.max(clock.at, moment.at)
        if (!(await isLived(life(moment)))) break
      }
    }
  }
  const lanes = Array.from({ length: AT_ONCE }, () =>
    lane().catch((error: unknown) => {
      failed.abort(error)
      throw error
    }),
  )
  // No lane writes after the end.
  await Promise.allSettled(lanes)
  await Promise.all(lanes)
}

/** Resolves to false if the service refused because the person was deleted. */
const isLived = (moment: Promise<void>): Promise<boolean> =>
  moment.then(
    () => true,
    (error: unknown) => {
      if (error instanceof Refusal && error.kind !== 'degraded') return false
      throw error
    },
  )

interface Life {
  readonly organizationId: string
  readonly person: DemoPerson
  readonly flows: Flows
  readonly clock: { at: number }
}

/** The steps of a person at the service. */
function createSteps({ organizationId, person, flows, clock }: Life) {
  const { seed, userRef, memberRef } = person
  const who = { organizationId, userRef, memberRef }
  /** Six digits that are no date and have no pattern. */
  const code = String(749_205 + 23 * seed)
  let typings = 0
  return {
    who,
    code,
    typings: () => typings,
    async begin() {
      const { sessionToken, words } = await flows.bootstrap(who, null, HINTS)
      return { token: sessionToken, words: words.suggestedWords }
    },
    typed: (typist: MadeUpPerson, words: readonly string[], moment: Moment, tempo = 1): Uint8Array =>
      bodyOf(typist.types(words.join(' '), typings++, { tempo }), person, moment),
    typedByMachine: (words: readonly string[], moment: Moment) => evenly(words, person, moment, typings++),
    async verify(token: string, body: Uint8Array) {
      const answer = await flows.verify(who, token, { kind: 'pattern', body }, HINTS)
      clock.at += TRY_AGAIN_MS
      return answer
    },
    async tryCode(token: string, right: boolean) {
      const input = { kind: 'code', code: right ? code : String(400_000 + typings++) } as const
      await flows.verify(who, token, input, HINTS)
      clock.at += TRY_AGAIN_MS
    },
  }
}

/** Carries out the events of one person. */
function createLife(life: Life) {
  const { person, flows, clock } = life
  const { seed, memberRef, displayName, group, references } = person
  const { who, code, typings, begin, typed, typedByMachine, verify, tryCode } = createSteps(life)
  const [self, stranger] = [typistOf(seed), typistOf(seed + 1000)]
  let lastTyped: Uint8Array | null = null

  const join = async (moment: Moment) => {
    const type = memberRef === null ? 'nominative' : 'generic'
    await flows.accounts.create(who, { type, displayName, withCode: false })
    await flows.accounts.change({ ...who, memberRef: null }, { groups: [group] })
    const { token, words } = await begin()
    for (let stored = 0; stored < references && typings() < TRIES_MAX; clock.at += TRY_AGAIN_MS) {
      const isTaken = await flows.enroll(who, token, { kind: 'pattern', body: typed(self, words, moment) }, HINTS).then(
        () => true,
        (error: unknown) => {
          if (error instanceof Refusal && error.kind === 'bot-detected') return false
          throw error
        },
      )
      if (isTaken) stored += 1
    }
  }
  const signIn = async (moment: Moment & { readonly tempo: number }) => {
    const { token, words } = await begin()
    let open: readonly string[] | null = words
    for (let tries = 0; open !== null && tries < 2; tries++) {
      lastTyped = typed(self, open, moment, tries === 0 ? moment.tempo : 1)
      const { next, words: further } = await verify(token, lastTyped)
      if (next === null) return
      open = next.mode === 'biometric' ? (further?.suggestedWords ?? null) : null
      if (tries === 1 && next.codeOpen) await tryCode(token, true)
    }
  }
  /** Tries that somebody else makes in one session, each with the words that the service suggests next. */
  const attack = async (n: number, body: (words: readonly string[]) => Uint8Array | null) => {
    const { token, words: first } = await begin()
    let words: readonly string[] = first
    for (let i = 0; i < n; i++) {
      const pattern = body(words)
      if (pattern !== null) words = (await verify(token, pattern)).words?.suggestedWords ?? words
    }
  }

  return async (moment: Moment): Promise<void> => {
    switch (moment.kind) {
      case 'join':
        return await join(moment)
      case 'choose-code':
        return await flows.securityCodes.choose(who, (await begin()).token, code)
      case 'sign-in':
        return await signIn(moment)
      case 'code': {
        const { token } = await begin()
        for (let i = 0; i < moment.times; i++) await tryCode(token, moment.right)
        return
      }
      case 'stranger':
        return await attack(moment.times, (words) => typed(stranger, words, moment))
      case 'machine':
        return await attack(moment.times, (words) => typedByMachine(words, moment))
      case 'copy':
        return await attack(1, () => lastTyped)
    }
  }
}

/** A machine's typing: every key has the same times, at another pace for each pattern. */
function evenly(words: readonly string[], person: DemoPerson, moment: Moment, nth: number): Uint8Array {
  const everyMs = 70 + 45 * (nth % 4)
  const keys = [...words.join(' ')].map(
    (letter, i) => [letter, everyMs * i, everyMs * i + 40 + 10 * (nth % 3)] as const,
  )
  return bodyOf(wirePattern(keys), person, moment)
}

/** A pattern as the recorder sends it. The tag marks it as made up where the sign-in is shown. */
const bodyOf = (pattern: object, { timeZone, language }: DemoPerson, { address, device, application }: Moment) =>
  Buffer.from(
    JSON.stringify({
      ...pattern,
      ip: address,
      tags: [
        { k: 'app', v: application },
        { k: 'made-up', v: 'yes' },
      ],
      d: { ...device, tz: timeZone, navLanguage: language },
    }),
  )
