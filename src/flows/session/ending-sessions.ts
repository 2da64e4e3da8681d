/**
 * Runs work after which no older session of a person may go on: ends the sessions, runs the work, and ends the sessions again.
 * The first end comes before the work, so that a call that cannot end the sessions has changed nothing and can be repeated. The
 * second end is needed because a sign-in may have begun a session in between; `endAgain` is for a caller whose second end differs.
 * If the work throws, there is no second end.
 */
export async function endingSessions<T>(end: () => Promise<void>, work: () => Promise<T>, endAgain = end): Promise<T> {
  await end()
  const done = await work()
  await endAgain()
  return done
}
