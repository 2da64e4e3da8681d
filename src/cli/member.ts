import { Command, InvalidArgumentError } from 'commander'
import type { Account, Member } from '../domain/account.js'
import { type AttemptKind, type KindCounters, UNTIL_UNLOCKED } from '../domain/attempts.js'
import { type ProfileTargets, profileView } from '../domain/biometric-status.js'
import { livePending } from '../domain/pending-action.js'
import { codeUsable } from '../domain/security-code.js'
import { normalizeUserRef } from '../domain/user-ref.js'
import { createUnlock } from '../flows/account/unlock.js'
import type { Designation } from '../flows/session/person.js'
import type { Stores } from '../wiring/stores.js'
import { type Administer, iso, print, requireOrganization } from './administer.js'
import { JSON_OPTION, uuid } from './arguments.js'
import { table } from './table.js'

/** `keystride member`: shows a member's state, and unlocks a member. */
export function memberCommand(administer: Administer): Command {
  const member = new Command('member').description("show a member's state, and unlock a member")
  const about = (name: string, description: string, work: Work) =>
    member
      .command(name)
      .description(description)
      .argument('<organization-id>', 'id as "organization list" prints it', uuid)
      .argument('<userRef>', "the account's reference", userRef)
      .option('--member-ref <ref>', 'which member, on a shared account', userRef)
      .action((organizationId: string, ref: string, options: { memberRef?: string; json?: true }) =>
        administer(async ({ stores, config: { targets }, flows }) => {
          await requireOrganization(flows, organizationId)
          await work(
            stores,
            { organizationId, userRef: ref, memberRef: options.memberRef ?? null },
            { targets, json: options.json === true },
          )
        }),
      )
  about('show', 'print profile, security code, locks and failures of a member; no secret is shown', show).option(
    ...JSON_OPTION,
  )
  about('unlock', 'end all locks of a member, forget the failures, revive a dead security code', unlock).addHelpText(
    'after',
    '\nA sign-in without attempts left stays closed: the person begins a new one.',
  )
  return member
}

type Work = (stores: Stores, who: Designation, how: { targets: ProfileTargets; json: boolean }) => Promise<void>

const show: Work = async (stores, who, { targets, json }) => {
  const { account, member } = await createUnlock(stores).show(who)
  const now = stores.clock.now()
  if (json) print(JSON.stringify(stateOf(account, member, targets, now), null, 2))
  else print(table(['', ''], stateRows(account, member, targets, now)).trimStart())
}

const unlock: Work = async (stores, who) => {
  const before = await createUnlock(stores).unlock(who)
  const now = stores.clock.now()
  for (const kind of KINDS) print(`${NAMES[kind]} was ${lockText(before[kind], kind, now)}`)
  print('unlocked')
}

const DAY_MS = 24 * 3_600_000
const KINDS: readonly AttemptKind[] = ['biometric', 'security_code']
const NAMES: Record<AttemptKind, string> = { biometric: 'typing', security_code: 'security code' }
const OPENS: Record<AttemptKind, string> = {
  biometric: 'closed until the profile is reset',
  security_code: 'closed until a new code is set',
}

function stateRows(account: Account, member: Member, targets: ProfileTargets, now: number): string[][] {
  const { biometricStatus, nPatternsRef, nVisible, nSensitive } = profileView(member, targets, now)
  return [
    ['account', `${account.userRef}, ${account.type}, created ${iso(account.createdAt)}`],
    ['member', member.memberRef],
    ['profile', `${biometricStatus}, generation ${member.generation}`],
    ['patterns', `${nPatternsRef}: ${nVisible} visible, ${nSensitive} sensitive`],
    ['complete since', member.completedAt === null ? 'never' : iso(member.completedAt)],
    ['queued', livePending(member.pending, now)?.action ?? 'nothing'],
    ['last success', member.lastSuccessAt === null ? 'never' : iso(member.lastSuccessAt)],
    ['code', codeText(member, now)],
    ...KINDS.map((kind) => [`${NAMES[kind]} attempts`, lockText(member.attempts[kind], kind, now)]),
  ]
}

function stateOf({ userRef, type, createdAt }: Account, member: Member, targets: ProfileTargets, now: number) {
  const { memberRef, generation, code, completedAt, lastSuccessAt } = member
  const at = (ms: number | null) => (ms === null ? null : iso(ms))
  return {
    ...{ userRef, type, createdAt: iso(createdAt), memberRef, generation, ...profileView(member, targets, now) },
    ...{ completedAt: at(completedAt), lastSuccessAt: at(lastSuccessAt) },
    queued: livePending(member.pending, now)?.action ?? null,
    securityCode: { set: code.set, temporary: code.expiresAt !== null, usable: code.set && codeUsable(code, now) },
    attempts: Object.fromEntries(
      KINDS.map((kind) => {
        const { off, closedUntil, streak, recentFailures } = member.attempts[kind]
        const forever = off || closedUntil >= UNTIL_UNLOCKED
        const failuresInDay = recentFailures.filter((one) => one > now - DAY_MS).length
        const locked = forever || closedUntil > now
        return [kind, { locked, lockedUntil: locked && !forever ? iso(closedUntil) : null, streak, failuresInDay }]
      }),
    ),
  }
}

function codeText({ code }: Member, now: number): string {
  if (!code.set) return 'none'
  if (code.expiresAt === null) return 'chosen by the member'
  if (code.used) return 'temporary, used'
  return `temporary, ${codeUsable(code, now) ? 'until' : 'ended'} ${iso(code.expiresAt)}`
}

function lockText({ off, closedUntil, streak, recentFailures }: KindCounters, kind: AttemptKind, now: number): string {
  const lock = closedUntil >= UNTIL_UNLOCKED ? 'locked until an unlock' : OPENS[kind]
  const state = off ? lock : closedUntil > now ? `locked until ${iso(closedUntil)}` : 'open'
  const inDay = recentFailures.filter((at) => at > now - DAY_MS).length
  return `${state}; failures: ${streak} since the last success, ${inDay} in 24 hours`
}

function userRef(text: string): string {
  const normalized = normalizeUserRef(text)
  if (normalized === null) throw new InvalidArgumentError('wanted a reference of letters, digits and . _ @ + -')
  return normalized
}
