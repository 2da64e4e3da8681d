import { expect, it } from 'vitest'
import { play, STEPS_A_SEED, story } from './played.js'

const STEPS = 1_000_000

/** Calls that are answered, refusals, fates of calls, processes and stores, states and ends, steps of the lock ladder. */
// biome-ignore format: many short names, some to a line
const MET = [
  'bootstrap', 'create', 'enroll', 'verify', 'verify code', 'legacy verify', 'legacy link', 'choose', 'issue', 'clear', 'reset', 'remove one', 'queue', 'make link',
  'open link', 'link step', 'revoke links', 'delete', 'change', 'members', 'unlock', 'act',
  'session-missing', 'member-required', 'member-mismatch', 'user-not-found', 'pattern-not-found', 'account-type', 'member-exists', 'pattern-invalid', 'bot-detected',
  'replay-detected', 'profile-complete', 'link-unknown', 'rate-limited', 'degraded', 'profile-locked',
  'timed out', 'timed out, done', 'timed out, late', 'done late', 'lost', 'lost, done', 'the process dies', 'the sessions are flushed', 'the database dies',
  'not-ready', 'in-progress', 'ok', 'full', 'reset', 'expired', 'link completed', 'link replaced', 'link revoked', 'link expired', 'link erased', 'link reset',
  'free: refused', 'free: enroll', 'biometric: 5 in a row', 'biometric: 10 in a row', 'biometric: 15 in a row', 'biometric: 20 in a day', 'security_code: 3 in a row',
  'security_code: 6 in a row', 'security_code: 10 in a row',
]

const title = `${STEPS / STEPS_A_SEED} seeds keep all invariants in a million steps, and reach all states of the list`
it(title, { timeout: STEPS }, async () => {
  const { counts, failure } = await play(1001, STEPS)
  if (failure !== null) expect.fail(story(failure))
  expect(MET.filter((what) => !counts.has(what))).toEqual([])
})
