import { LINK_KINDS } from '../../src/domain/profile-link.js'
import { USER_ACTIONS } from '../../src/domain/user-action.js'
import { sha256 } from '../../src/flows/process/tokens.js'
import type { Designation } from '../../src/flows/session/person.js'
import { type ClientNeeds, createDraws, type Draws, keep, MEMBERS } from './client-draws.js'
import type { Kind } from './moods.js'
import type { Request } from './request.js'
import { type Flows, TARGETS } from './service.js'
import { typing } from './typists.js'

const HINTS = { language: null, acceptLanguage: null }

/** A call without the fields that all calls get; `kind` and `who` if they differ from the drawn ones. */
type Made = Omit<Request, 'kind' | 'process' | 'who' | 'beganAt' | 'at'> & Partial<Pick<Request, 'who' | 'kind'>>
/** Makes a call; null if it is not possible in this state. */
type Make = (who: Designation) => Made | null

const bootstrap = ({ heldOf, now }: Draws, who: Designation, presented: string | null): Made => ({
  ...(presented === null ? {} : { token: presented }),
  async run(flows) {
    const begun = await flows.bootstrap(who, presented, HINTS)
    const { tokens, words } = heldOf(who)
    keep(words, begun.words.suggestedWords)
    if (!tokens.some(({ token }) => token === begun.sessionToken))
      keep(tokens, { token: begun.sessionToken, at: now() })
    return begun
  },
})
const withToken = (draws: Draws, who: Designation, run: (flows: Flows, token: string) => Promise<object>): Made => {
  const presented = draws.token(who)
  if (presented === null) return { ...bootstrap(draws, who, null), kind: 'bootstrap' }
  return { token: presented, run: (flows) => run(flows, presented) }
}

/** Calls that begin a session or send a pattern or a code. */
function attemptCalls(draws: Draws) {
  const { random, heldOf, body, ofWords, code, token, right } = draws
  const show = (who: Designation, shown: { readonly suggestedWords: string[] } | null) => {
    if (shown !== null) keep(heldOf(who).words, shown.suggestedWords)
  }
  return {
    bootstrap: (who) => bootstrap(draws, who, random.chance(0.4) ? token(who) : null),
    enroll: (who) =>
      withToken(draws, who, async (flows, token) => {
        const answer = await flows.enroll(who, token, { kind: 'pattern', body: ofWords(who, 0.97) }, HINTS)
        show(who, answer.words)
        return answer
      }),
    verify: (who) =>
      withToken(draws, who, async (flows, token) => {
        const answer = await flows.verify(who, token, { kind: 'pattern', body: ofWords(who, right()) }, HINTS)
        show(who, answer.words)
        const { patternId } = answer.authentication ?? {}
        if (patternId) keep(heldOf(who).patterns, patternId)
        return answer
      }),
    'verify code'(who) {
      const tried = code(who)
      return {
        code: tried,
        ...withToken(draws, who, (flows, token) => flows.verify(who, token, { kind: 'code', code: tried }, HINTS)),
      }
    },
    'legacy verify'(who) {
      const presented = random.chance(0.3) ? token(who) : null
      const tried = random.chance(0.4) ? code(who) : null
      const input =
        tried === null
          ? ({ kind: 'pattern', body: body(who, right()) } as const)
          : ({ kind: 'code', code: tried } as const)
      return {
        ...(presented === null ? {} : { token: presented }),
        ...(tried === null ? {} : { code: tried }),
        run: (flows) => flows.legacyVerify({ who, token: presented, enrolls: random.chance(0.5), input, hints: HINTS }),
      }
    },
    'legacy link'(who) {
      const presented = random.chance(0.6) ? token(who) : null
      const tested = random.chance(0.7) ? random.pick(heldOf(who).patterns) : undefined
      return {
        ...(presented === null ? {} : { token: presented }),
        run: (flows) =>
          tested === undefined
            ? flows.legacyLink.link(who, presented, { kind: 'pattern', body: body(who, 0.97) })
            : flows.legacyLink.linkTested(who, presented, tested),
      }
    },
  } satisfies Partial<Record<Kind, Make>>
}

/** Calls that set or clear a security code. Each ends the older sessions, unless it has no session and begins one. */
function codeCalls(draws: Draws) {
  const ending = (who: Designation, run: (flows: Flows, token: string) => Promise<object>): Made => {
    const made = withToken(draws, who, run)
    return made.kind === undefined ? { ...made, ...draws.endsOf(who) } : made
  }
  return {
    choose(who) {
      const code = draws.digits()
      const made = ending(who, async (flows, token) => ({ chosen: await flows.securityCodes.choose(who, token, code) }))
      return made.kind === undefined ? { ...made, code } : made
    },
    issue: (who) => ending(who, async (flows, token) => ({ code: await flows.securityCodes.issue(who, token) })),
    clear: (who) => ending(who, async (flows, token) => ({ cleared: await flows.securityCodes.clear(who, token) })),
  } satisfies Partial<Record<Kind, Make>>
}

/** Calls on profiles, queued actions and links. */
function profileCalls(draws: Draws) {
  const { random, tables, heldOf, memberOf, body, endsOf } = draws
  const makeLink: Make = (who) => {
    const complete = (memberOf(who)?.member.nPatternsRef ?? 0) >= TARGETS.targetRefPatterns
    const kind = complete && random.chance(0.7) ? 'reset-profile' : random.pick(LINK_KINDS)
    const validityS = random.pick([60, 3600, 86_400])
    return {
      async run(flows) {
        const { key } = await flows.profileLinks.make(who, kind, { redirectUri: null, validityS })
        const hash = sha256(key)
        for (const { id, sha256, of, organizationId } of tables.links.values())
          if (organizationId === who.organizationId && Buffer.from(hash).equals(sha256))
            keep(heldOf(who).links, { id, key, sha256, kind, memberId: of.member.id, memberRef: of.member.memberRef })
        return {}
      },
    }
  }
  return {
    reset: (who) => ({ ...endsOf(who), run: (flows) => flows.profiles.reset(who) }),
    'remove one'(who) {
      const reference = random.pick(memberOf(who)?.references ?? [])
      return reference === undefined ? null : { run: (flows) => flows.profiles.removeOne(who, reference.id) }
    },
    queue: (who) => ({
      run: (flows) =>
        random.chance(0.2)
          ? flows.pendingActions.clear(who)
          : flows.pendingActions.queue(
              who,
              random.chance(0.4) ? 'RESET_BIOMETRIC_PROFILE' : 'UPDATE_BIOMETRIC_PROFILE',
            ),
    }),
    'make link': makeLink,
    'open link'(who) {
      const link = random.pick(heldOf(who).links)
      return link === undefined ? null : { link, run: (flows) => flows.linkPage.open(link.key, HINTS) }
    },
    'link step'(who) {
      const link = heldOf(who).links.at(random.chance(0.8) ? -1 : 0)
      if (link === undefined) return makeLink(who)
      const typist = { ...who, memberRef: link.memberRef }
      const pattern = body(typist, 1)
      const isWrong = random.chance(0.1)
      return {
        link,
        async run(flows) {
          const { words } = await flows.linkPage.open(link.key, HINTS)
          const typed = typing(pattern, isWrong ? [] : words.suggestedWords)
          return flows.linkPage.step(link.key, { kind: 'pattern', body: typed }, HINTS)
        },
      }
    },
    'revoke links': (who) => ({
      async run(flows) {
        await flows.profileLinks.revoke(who)
        return {}
      },
    }),
  } satisfies Partial<Record<Kind, Make>>
}

/** Calls on accounts and members. */
function accountCalls(draws: Draws) {
  const { random, accountOf, endsOf } = draws
  return {
    create: (who) => ({
      run: (flows) =>
        flows.accounts.create(who, {
          type: who.userRef === 'desk' ? 'generic' : null,
          displayName: random.chance(0.5) ? 'Somebody' : null,
          withCode: random.chance(0.4),
        }),
    }),
    delete(given) {
      const who = random.chance(0.5) ? { ...given, memberRef: null } : given
      const row = accountOf(who)
      const ofShared = row?.account.type === 'generic' && who.memberRef !== null
      return {
        who,
        ends: { memberRef: ofShared ? who.memberRef : null },
        ...(ofShared || row === undefined ? {} : { accountId: row.account.id }),
        run: (flows) => flows.accounts.remove(who),
      }
    },
    change(who) {
      const generic = accountOf(who)?.account.type === 'generic'
      const change = random.pick([
        { groups: ['staff'] },
        { type: 'nominative' as const },
        generic ? { memberRef: random.pick(MEMBERS) } : { type: 'generic' as const, memberRef: random.pick(MEMBERS) },
      ])
      return { run: (flows) => flows.accounts.change(who, change) }
    },
    members: (who) => ({ run: (flows) => flows.accounts.members(who) }),
    unlock: (who) => ({ run: (flows) => flows.unlock.unlock(who) }),
    act(who) {
      const action = random.pick(USER_ACTIONS)
      const ends = ['lock', 'reset-profile', 'clear-security-code'].includes(action) ? endsOf(who) : {}
      return { ...ends, run: (flows) => flows.userActions.perform(who, action, { apiKeyId: 'key', requestId: 'call' }) }
    },
  } satisfies Partial<Record<Kind, Make>>
}

/** The clients of the service, legitimate and hostile. */
export function createClients(needs: ClientNeeds) {
  const { random, scheduler } = needs
  const draws = createDraws(needs)
  const makers = { ...attemptCalls(draws), ...codeCalls(draws), ...profileCalls(draws), ...accountCalls(draws) }
  const make: Record<Kind, Make> = makers
  const { missed, usedUp, turn, pause } = draws
  return {
    ...{ missed, usedUp, turn, pause },
    /** The next call, to one of `processes` processes; null if the drawn call is not possible. */
    next(processes: number): Request | null {
      const who = draws.whom()
      const kind = draws.first(draws.kind(), who)
      const made = make[kind](who)
      if (made === null) return null
      const process = random.below(processes)
      return { kind, process, who, beganAt: scheduler.step(), at: scheduler.now(), ...made }
    },
  }
}
