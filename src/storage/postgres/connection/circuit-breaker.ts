import { Refusal } from '../../../domain/refusal.js'
import { startBeats } from '../../beats.js'

const BEAT_MS = 25
/**
 * Nothing that was asked in these 300 ms has been answered, signs of life included: the database is gone. Under load, or
 * where a commit waits for a slow disk, one call may wait far longer (p99 of a whole verify at 64 connections on two shared
 * cores: 460 ms), yet a sign of life asks for a few instructions of the server and for no disk.
 */
const SILENCE_MS = 300
/** Whoever has waited for so long has the server asked for a sign of life, and again each time that it has passed. */
const ASKS_AFTER_MS = 75
/** What waits for a lock or in a queue while others are served is given up after this: a statement may take 1 s of it. */
const PATIENCE_MS = 1200
/** A connection at one piece of work for this long, the time-outs of two statements and more, is dead. */
const STUCK_MS = 2400
/** Work that waits for a connection: past this many per connection it is refused at once. No measurement behind it. */
const WAITING_PER_CONNECTION = 64

/** One call on its way through the database. */
export interface Turn {
  /** Its caller has been told no: nothing more of it may be sent or committed. */
  expired(): boolean
  /** Waits for one exchange with the server, which shows that the server answers. */
  exchange<T>(answer: PromiseLike<T>): Promise<T>
}

export interface TurnOptions {
  /** A probe is a sign of life asked for: it never waits for a turn, is never turned away, and gives silence its yardstick. */
  readonly probe?: boolean
  /** Milliseconds it may take; 1,200 unless given. */
  readonly patienceMs?: number
}

/** Who may use a connection now, who waits, and who has waited too long. `L` is a pool of connections. */
export interface Turnstile<L> {
  /**
   * Runs `work` with a connection's turn. Rejects as `work` does, or with `Refusal('degraded')` where it may not begin,
   * waits in vain, or the database falls silent; `work` then goes on unseen until it finds its turn expired.
   */
  pass<T>(work: (line: L, turn: Turn) => Promise<T>, options?: TurnOptions): Promise<T>
  /** Puts another pool in place of a broken one: what begins from here on uses it. */
  replace(broken: L): void
  current(): L
  stop(): void
}

interface TurnstileNeeds<L> {
  /** Calls at once, besides probes: a pool needs one connection more than this. */
  readonly width: number
  readonly open: () => L
  /** Ends a pool that was replaced. */
  readonly retire: (line: L) => void
  /** Sends a probe through `pass`; its own affair where that fails. */
  readonly probe: () => void
}

interface Line<L> {
  readonly value: L
  free: number
}

interface Piece<L> {
  readonly probe: boolean
  readonly askedAt: number
  readonly patienceMs: number
  /** Null while it waits. */
  line: Line<L> | null
  startedAt: number
  expired: boolean
  begin(line: Line<L>): void
  refuse(why: string): void
}

export function createTurnstile<L>({ width, open, retire, probe: sendProbe }: TurnstileNeeds<L>): Turnstile<L> {
  const openLine = (): Line<L> => ({ value: open(), free: width })
  let line = openLine()
  let waiting: Piece<L>[] = []
  /** In the order they were asked. */
  const pieces = new Set<Piece<L>>()
  /** When the latest of the answered exchanges was sent; null until a first probe is answered. */
  let heardFrom: number | null = null
  let silent = false
  let probedAt = 0
  const beats = startBeats(BEAT_MS, lookAround)

  function heard(sentAt: number, probe: boolean): void {
    if (heardFrom === null ? !probe : sentAt < heardFrom) return
    heardFrom = sentAt
    if (beats.now() - sentAt < SILENCE_MS) silent = false
  }

  /** Whether there is anything left to look after. */
  function lookAround(): boolean {
    const now = beats.now()
    const running = [...pieces].filter((piece) => piece.line === line)
    const longestMs = Math.max(0, ...running.map(({ startedAt }) => now - startedAt))
    silent = heardFrom !== null && Math.min(longestMs, now - heardFrom) >= SILENCE_MS
    // Of a slow server the next is asked before the last is answered; of a silent one a single one at a time.
    const isAsked = silent && running.some(({ probe, expired }) => probe && !expired)
    if (Math.min(now - probedAt, longestMs) >= ASKS_AFTER_MS && !isAsked) {
      probedAt = now
      sendProbe()
    }
    for (const piece of pieces) {
      const age = now - piece.askedAt
      if (age < SILENCE_MS) break
      if (piece.expired) continue
      if (silent) piece.refuse('the database does not answer')
      else if (age >= piece.patienceMs) piece.refuse('the database is too busy')
    }
    waiting = waiting.filter((piece) => !piece.expired)
    if (running.some((piece) => now - piece.startedAt >= Math.max(STUCK_MS, 2 * piece.patienceMs))) replace(line.value)
    return pieces.size > 0
  }

  function next(): void {
    while (line.free > 0) {
      const piece = waiting.shift()
      if (piece === undefined) return
      if (!piece.expired) piece.begin(line)
    }
  }

  function replace(broken: L): void {
    if (broken !== line.value) return
    line = openLine()
    retire(broken)
    next()
  }

  function pass<T>(
    work: (line: L, turn: Turn) => Promise<T>,
    { probe = false, patienceMs = PATIENCE_MS }: TurnOptions = {},
  ): Promise<T> {
    if (!probe && silent) return Promise.reject(degraded('the database does not answer'))
    if (!probe && waiting.length >= width * WAITING_PER_CONNECTION)
      return Promise.reject(degraded('too much waits for the database'))
    return new Promise((resolve, reject) => {
      const exchange = async <A>(answer: PromiseLike<A>): Promise<A> => {
        const sentAt = beats.now()
        const got = await answer
        heard(sentAt, probe)
        return got
      }
      const piece: Piece<L> = {
        probe,
        askedAt: beats.now(),
        patienceMs,
        line: null,
        startedAt: 0,
        expired: false,
        begin(on) {
          piece.startedAt = beats.now()
          piece.line = on
          if (!probe) on.free -= 1
          const done = () => {
            pieces.delete(piece)
            if (!probe) on.free += 1
            next()
            if (pieces.size === 0) beats.rest()
          }
          work(on.value, { expired: () => piece.expired, exchange }).then(
            (result) => {
              done()
              resolve(result)
            },
            (error: unknown) => {
              done()
              reject(error)
            },
          )
        },
        refuse(why) {
          piece.expired = true
          if (piece.line === null) pieces.delete(piece)
          reject(degraded(why))
        },
      }
      beats.wake()
      pieces.add(piece)
      if (probe || line.free > 0) piece.begin(line)
      else waiting.push(piece)
    })
  }

  return { pass, replace, current: () => line.value, stop: beats.stop }
}

export const degraded = (why: string) => new Refusal('degraded', `try again later: ${why}`)
