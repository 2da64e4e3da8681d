/**
 * Does work after which no older session of a person may go on: ends the sessions, works, and ends them again. They end first
 * so that a call whose end fails has changed nothing and can be repeated. They end again because a sign-in may have begun a
 * session in between; `endAgain` is for a caller whose second end differs. If the work throws, it does not happen.
 */
export async function endingSessions<T>(end: () => Promise<void>, work: () => Promise<T>, endAgain = end): Promise<T> {
  await end()
  const done = await work()
  await endAgain()
  return done
}
