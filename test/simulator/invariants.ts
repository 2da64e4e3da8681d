/** Invariants that hold after every step. The numbered ones are promised to users; the named ones are our own. */
export const INVARIANTS = {
  I1: 'a session scores no more attempts of a kind than its budget',
  I2: 'no failure is recorded while a lock or the daily limit closes its kind',
  I3: 'no success is recorded between a lock and its end',
  I4: 'acknowledged writes survive every crash, and deleted data never comes back',
  I5: 'the counters equal the number of references',
  I6: 'the status follows from counts, targets and times by the table',
  I7: 'a link completes at most once, and ends only in the known ways',
  I9: 'every id in an answer or a row belongs to its organization',
  I10: 'an answer reports only attempts that are recorded with the same result',
  I11: 'a temporary code appears in one answer and signs in once',
  free: 'a refused attempt, or one that is sent to enroll, changes no counter',
  sessions: 'a session serves only its user, for at most 900 s, and not after an event that ends it',
  verdict: 'a verdict uses the references and the code that are stored at its commit',
  belief: 'a member in an answer equals the stored row of that version',
  words: 'the words that a session has issued are typed in one judged attempt at most',
  bug: 'a request ends with an answer or a refusal',
} as const
export type Invariant = keyof typeof INVARIANTS

export interface Violation {
  readonly invariant: Invariant
  readonly found: string
}
