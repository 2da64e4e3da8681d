/** The agent: for servers that want a verdict and a number. Uses `fetch` alone. */
import { createCore } from './calls.js'
import {
  bareAddress,
  keyProblem,
  patternFields,
  patternProblem,
  tagProblem,
  urlProblem,
  userRefProblem,
} from './checks.js'
import { type Code, failed, type VerifyResult } from './result.js'
import { enrollmentOf, failureOf, notUnderstood, verdictOf } from './verdict.js'

export type { Authentication, Code, RecommendedAction, VerifyResult } from './result.js'

export interface AgentOptions {
  /** Address of the service, such as `https://login.example.org`; the core API is below it at `/core`. */
  readonly url: string
  /** A key of the scope `core`. */
  readonly apikey: string
  /** Longest time of a whole `verify`, 1 to 2147483647. Default 10000. */
  readonly timeoutMs?: number
}

export interface VerifyOptions {
  /** Creates an unknown user and enrolls the pattern while the profile is not complete. Default false. */
  readonly enroll?: boolean | undefined
  /** The member of a shared account. */
  readonly memberRef?: string | undefined
  /** Address of the end user. A pattern's own `ip` is not sent, because a page could choose it. */
  readonly ip?: string | null | undefined
  /** Ends the call early: code 201. */
  readonly signal?: AbortSignal | undefined
}

export interface Agent {
  /**
   * Verifies a typing pattern, as an object or as JSON of a form. Never throws or rejects, and never repeats a call. Sign the
   * person in only if `recommendedAction` is `auth`.
   */
  verify(userRef: string, pattern: unknown, options?: VerifyOptions): Promise<VerifyResult>
}

/** Creates an agent. Makes no call and throws nothing: a wrong address is code 207 of each `verify`. */
export function createAgent(agent: AgentOptions): Agent {
  return {
    async verify(userRef, pattern, options) {
      try {
        return await verify(agent, userRef, pattern, options ?? {})
      } catch {
        return failed(206, 'the agent failed')
      }
    },
  }
}

const TIMEOUT_MS = 10_000

async function verify(
  { url, apikey, timeoutMs }: AgentOptions,
  userRef: string,
  pattern: unknown,
  { enroll, memberRef, ip, signal: given }: VerifyOptions,
): Promise<VerifyResult> {
  const fields = patternFields(pattern) ?? {}
  // The checks that need no server, in the order of precedence.
  const checks: readonly [Code, string | null][] = [
    [207, urlProblem(url)],
    [202, keyProblem(apikey)],
    [210, userRefProblem(userRef)],
    [210, memberRef == null ? null : userRefProblem(memberRef)],
    [208, tagProblem(fields)],
    [203, patternProblem(fields)],
  ]
  for (const [code, problem] of checks) if (problem !== null) return failed(code, problem)
  const ending = new AbortController()
  const end = () => ending.abort()
  const isTime = Number(timeoutMs) >= 1 && Number(timeoutMs) < 2 ** 31
  const timer = setTimeout(end, isTime ? timeoutMs : TIMEOUT_MS)
  given?.addEventListener('abort', end)
  if (given?.aborted) end()
  try {
    const core = createCore({ url, apikey, userRef, memberRef: memberRef ?? undefined, signal: ending.signal })
    return await judged(core, ip == null ? fields : { ...fields, ip: bareAddress(String(ip)) }, enroll === true)
  } finally {
    clearTimeout(timer)
    given?.removeEventListener('abort', end)
  }
}

/** Bootstrap, creation, then enrollment or verify. */
async function judged(core: ReturnType<typeof createCore>, pattern: object, enroll: boolean): Promise<VerifyResult> {
  const begun = await core.bootstrap()
  const { json } = begun
  const isUnknown = begun.status === 404 && json?.reason === 'user-not-found'
  if (begun.status !== 200 && !isUnknown) return failureOf(begun)
  const sessionId = json?.sessionId
  if (typeof sessionId !== 'string' || keyProblem(sessionId) !== null) return notUnderstood(begun)
  if (json?.memberRef === null) return failed(206, 'the account is shared: memberRef is needed')
  if (isUnknown) {
    if (!enroll) return failed(205, 'the user does not exist, and enrollment was not asked for')
    const created = await core.create()
    if (created.status !== 200 && created.status !== 201) return failureOf(created)
  }
  const status = isUnknown ? 'not-ready' : json?.biometricStatus
  const isReset = enroll && json?.pendingAction === 'RESET_BIOMETRIC_PROFILE'
  if ((status === 'ok' || status === 'full') && !isReset) return verdictOf(await core.verify(sessionId, pattern))
  if (typeof status !== 'string') return notUnderstood(begun)
  if (!enroll) return failed(205, 'the profile of the user is not complete, and enrollment was not asked for')
  return enrollmentOf(await core.enroll(sessionId, pattern))
}
