/** What holds after every step. Those with numbers are promised; what has none is ours. */
export const INVARIANTS = {
  I1: 'a session scores no more attempts of a kind than its budget',
  I2: 'no failure is recorded while its ladder, or the day, has the kind closed',
  I3: 'no success is recorded between a lock and its end',
  I4: 'what was acknowledged is there, whatever died; what was deleted never comes back',
  I5: 'as many references are counted as there are',
  I6: 'the status is what the table makes of counts, targets and times',
  I7: 'a link completes at most once, and ends in no way but the known ones',
  I9: 'whatever an answer or a row names is of its organization',
  I10: 'no answer tells of an attempt that is not on record as told',
  I11: 'a temporary code stands in one answer, and signs in once',
  free: 'a refused attempt, or one that is sent to enroll, leaves every counter as it was',
  sessions: 'a session serves its own user, for 900 s at the most, and not after what ends it',
  verdict: 'a verdict rests on the references and the code that are there at its commit',
  belief: 'what a process tells of a member is what was stored at that version',
  bug: 'a request ends in an answer or in a refusal',
} as const
export type Invariant = keyof typeof INVARIANTS

export interface Violation {
  readonly invariant: Invariant
  readonly found: string
}
