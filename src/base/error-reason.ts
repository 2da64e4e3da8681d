/** The message of an error and of the errors behind it, without a stack. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  // An AggregateError has a code and no message.
  const own = error.message || ('code' in error ? String(error.code) : error.name)
  return error.cause === undefined ? own : `${own} (${reasonOf(error.cause)})`
}
