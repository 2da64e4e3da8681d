/** Why a call has no usable answer: a `reason` of the service, or one of the client's own. */
export type ErrorReason =
  | 'invalid-action'
  | 'invalid-data'
  | 'api-failed'
  | 'detection-bot'
  | 'fraud-detected'
  | 'user-not-found'
  | 'quota-exceeded'
  | 'internal-error'
  /** The connection failed. The service may have executed the call. */
  | 'no-answer'
  /** No whole answer within `timeoutMs`. The service may have executed the call. */
  | 'timeout'
  /** The answer is not one of the service, such as a page of a proxy. */
  | 'not-understood'

type Facts = Pick<KeystrideError, 'status' | 'reason'> &
  Partial<Pick<KeystrideError, 'requestId' | 'answer' | 'retryAfterSeconds'>>

/** The only error that the client throws, except that an aborted call rejects with the reason of its signal. */
export class KeystrideError extends Error {
  override readonly name = 'KeystrideError'
  /** HTTP status; 0 without an answer. */
  readonly status: number
  /** Null where the service names none (401). */
  readonly reason: ErrorReason | null
  /** The id to give to the operator of the service; null without an answer of the service. */
  readonly requestId: string | null
  /** The body of the answer; undefined without one. The 404 of `GET /users/{userRef}` has the state of an unknown user. */
  readonly answer: unknown
  /** Seconds after which to try again, from `Retry-After`; null without one. */
  readonly retryAfterSeconds: number | null

  constructor(
    message: string,
    { status, reason, requestId = null, answer, retryAfterSeconds = null }: Facts,
    options?: ErrorOptions,
  ) {
    super(message, options)
    this.status = status
    this.reason = reason
    this.requestId = requestId
    this.answer = answer
    this.retryAfterSeconds = retryAfterSeconds
  }
}
