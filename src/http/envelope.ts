import { isoTime } from '../base/iso-time.js'
import { reasonForStatus, type WireRefusal } from './refusals.js'
import type { Reply } from './route.js'

/**
 * The JSON of a handler's reply: the envelope, the payload, then any warnings. A status of 400 or more keeps the payload under
 * `success: false` and gets a `reason` if the payload has none (the onboarding shell of GET /users/{userRef}).
 */
export function replyJson(reply: Reply, atMs: number): string {
  const message = reply.message ?? 'Done'
  const timestamp = isoTime(atMs)
  if (reply.status < 400) {
    const warned = reply.warnings && reply.warnings.length > 0 ? { warnings: reply.warnings } : null
    return JSON.stringify({ timestamp, success: true, message, ...reply.payload, ...warned })
  }
  const reason = reasonForStatus(reply.status)
  const named = reason === null || 'reason' in reply.payload ? {} : { reason }
  return JSON.stringify({ timestamp, success: false, message, ...named, ...reply.payload })
}

/** The JSON of a refusal. 401 has no `reason` (interface, Errors). */
export function refusalJson(refusal: WireRefusal, message: string, atMs: number): string {
  const named = refusal.reason === null ? {} : { reason: refusal.reason }
  return JSON.stringify({ timestamp: isoTime(atMs), success: false, message, ...named })
}
