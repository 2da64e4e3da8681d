import type { Member } from '../../src/domain/account.js'
import { NO_ATTEMPTS } from '../../src/domain/attempts.js'
import { NO_HABITS } from '../../src/domain/context/circumstances.js'
import { SAMPLE_FORMAT } from '../../src/domain/sample-format.js'

export const NOW = 1_800_000_000_000

/** A member with a number of references, complete since a millisecond ago if there are at least five. */
export const member = (nVisible: number, more: Partial<Member> = {}): Member => ({
  id: 'm',
  memberRef: 'ada',
  displayName: null,
  generation: 0,
  nPatternsRef: nVisible,
  nVisible,
  nSensitive: 0,
  everReset: false,
  completedAt: nVisible >= 5 ? NOW - 1 : null,
  lastSuccessAt: null,
  preferredLanguage: null,
  code: { set: false, temporary: false, expiresAt: null, used: false, version: 0 },
  attempts: NO_ATTEMPTS,
  attemptsVersion: 0,
  rowVersion: 0,
  patternsClosedForMs: 0,
  createdAt: 0,
  lastTypedAt: null,
  profileVersion: 0,
  sampleFormat: SAMPLE_FORMAT,
  successor: null,
  pending: null,
  adaptedAt: null,
  habits: NO_HABITS,
  ...more,
})
