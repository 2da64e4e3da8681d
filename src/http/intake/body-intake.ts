/** How a body came to its end. */
type BodyEnd = 'whole' | 'too-large' | 'late' | 'aborted' | 'no-room'

/** Collects one request body. It copies what it is given and never holds more than about twice what has arrived. */
export interface BodyIntake {
  /** Takes a chunk that is valid only during the call. */
  add(chunk: ArrayBuffer, isLast: boolean): void
  /** Ends the intake early; without effect once it has ended. */
  end(how: BodyEnd): void
  /** How it ended; null while more is awaited. */
  ended(): BodyEnd | null
  /** Resolves at the end, at once where it has come already. One waiter at the most. */
  whenEnded(): Promise<BodyEnd>
  /** The body, in a buffer of its own that may be transferred to a worker. Meaningful after `whole` only. */
  bytes(): Uint8Array
}

/** What the bodies of one server hold together while they are not whole. */
export interface BodyRoom {
  readonly bytesMax: number
  held: number
}

const none = new Uint8Array(0)
/** First buffer where a body comes in several chunks: the cap of everything but typing patterns. */
const firstBufferBytes = 16 * 1024

/**
 * An intake that ends as `too-large` at the first byte past `maxBytes`, as `late` after `deadlineMs`, and as `no-room` where it would
 * have to grow and slow bodies together hold too much already.
 */
export function takeBody(maxBytes: number, deadlineMs: number, room: BodyRoom): BodyIntake {
  let buffer: Uint8Array = none
  let length = 0
  let held = 0
  let ended: BodyEnd | null = null
  let tellWaiter: ((how: BodyEnd) => void) | null = null
  const deadline = setTimeout(() => end('late'), deadlineMs)

  function end(how: BodyEnd): void {
    if (ended !== null) return
    ended = how
    room.held -= held
    clearTimeout(deadline)
    if (how !== 'whole') buffer = none
    tellWaiter?.(how)
  }

  function add(chunk: ArrayBuffer, isLast: boolean): void {
    if (ended !== null) return
    const needed = length + chunk.byteLength
    if (needed > maxBytes) {
      end('too-large')
      return
    }
    if (length === 0 && isLast) {
      // The usual case: one chunk, one copy of exactly its size.
      buffer = new Uint8Array(chunk.slice(0))
    } else if (chunk.byteLength > 0) {
      // Doubling, rather than the declared length at once: memory is given for bytes that came, not for promises.
      if (needed > buffer.byteLength) {
        const size = Math.min(maxBytes, Math.max(firstBufferBytes, buffer.byteLength * 2, needed))
        if (room.held - held + size > room.bytesMax) {
          end('no-room')
          return
        }
        const grown = new Uint8Array(size)
        grown.set(buffer.subarray(0, length))
        buffer = grown
        room.held += size - held
        held = size
      }
      buffer.set(new Uint8Array(chunk), length)
    }
    length = needed
    if (isLast) end('whole')
  }

  return {
    add,
    end,
    ended: () => ended,
    whenEnded: () => {
      if (ended !== null) return Promise.resolve(ended)
      return new Promise((resolve) => {
        tellWaiter = resolve
      })
    },
    bytes: () => (buffer.byteLength === length ? buffer : buffer.slice(0, length)),
  }
}
