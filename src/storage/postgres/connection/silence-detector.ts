/**
 * The database is silent if nothing that was sent in the last 300 ms, probes included, was answered. Under load, or if a commit
 * waits for a slow disk, a call may wait far longer (p99 of a whole verify at 64 connections on two shared cores: 460 ms), but a
 * probe needs only a few instructions of the server and no disk.
 */
export const SILENCE_MS = 300
/** A call that runs this long triggers a probe, and further probes at this interval. */
const PROBE_AFTER_MS = 75

/** Detects that the database no longer answers. All times are those of one `startBeats`. */
export interface SilenceDetector {
  silent(): boolean
  /** Notes that the server answered an exchange that began at `sentAt`. */
  answered(sentAt: number, now: number, byProbe: boolean): void
  /** Called with each beat. Detects silence, and sends a probe if one is due. */
  check(running: RunningCalls): void
}

interface RunningCalls {
  readonly now: number
  /** How long the oldest call has run; 0 without any. */
  readonly longestMs: number
  readonly isProbed: boolean
}

export function createSilenceDetector(probe: () => void): SilenceDetector {
  /** When the latest answered exchange was sent; null until a first probe is answered. */
  let answeredSentAt: number | null = null
  let silent = false
  let probedAt = 0
  return {
    silent: () => silent,
    answered(sentAt, now, byProbe) {
      if (answeredSentAt === null ? !byProbe : sentAt < answeredSentAt) return
      answeredSentAt = sentAt
      if (now - sentAt < SILENCE_MS) silent = false
    },
    check({ now, longestMs, isProbed }) {
      silent = answeredSentAt !== null && Math.min(longestMs, now - answeredSentAt) >= SILENCE_MS
      // A slow server gets the next probe before the last one is answered; a silent server gets one at a time.
      if (Math.min(now - probedAt, longestMs) < PROBE_AFTER_MS || (silent && isProbed)) return
      probedAt = now
      probe()
    },
  }
}
