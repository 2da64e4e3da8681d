import type { Member } from '../../src/domain/account.js'
import { NO_ATTEMPTS } from '../../src/domain/attempts.js'
import { NO_HABITS } from '../../src/domain/context/circumstances.js'
import { SAMPLE_FORMAT } from '../../src/domain/sample-format.js'

export const NOW = 1_800_000_000_000

/** A member with a number of references, complete since a millisecond ago if there are at least five. */
export const member = (nVisible: number, more: Partial<Member> = {}): Member => ({
  ...{ id: 'm', memberRef: 'ada', displayName: null, createdAt: 0, preferredLanguage: null, habits: NO_HABITS },
  ...{ generation: 0, nPatternsRef: nVisible, nVisible, nSensitive: 0, sampleFormat: SAMPLE_FORMAT, successor: null },
  ...{ everReset: false, completedAt: nVisible >= 5 ? NOW - 1 : null, adaptedAt: null, pending: null },
  ...{ lastSuccessAt: null, lastTypedAt: null, attempts: NO_ATTEMPTS, attemptsVersion: 0 },
  ...{ rowVersion: 0, patternsClosedForMs: 0, profileVersion: 0 },
  code: { set: false, temporary: false, expiresAt: null, used: false, version: 0 },
  ...more,
})
