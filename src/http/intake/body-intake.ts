/** How the reception of a body ended. */
type BodyEnd = 'whole' | 'too-large' | 'late' | 'aborted' | 'no-room'

/** Collects one request body. Copies each chunk, and holds at most about twice the bytes that have arrived. */
export interface BodyIntake {
  /** Adds a chunk, which must be valid only during the call. */
  add(chunk: ArrayBuffer, isLast: boolean): void
  /** Ends the intake early; idempotent. */
  end(how: BodyEnd): void
  /** How the reception ended; null before. */
  ended(): BodyEnd | null
  /** Resolves at the end, or at once if the reception has ended. Only one caller may wait. */
  whenEnded(): Promise<BodyEnd>
  /** The body, in a buffer of its own that may be transferred to a worker. Valid only after `whole`. */
  bytes(): Uint8Array
}

/** Memory budget of the incomplete bodies of one server, in bytes. */
export interface BodyRoom {
  readonly bytesMax: number
  held: number
}

const none = new Uint8Array(0)
/** Size of the first buffer of a body in several chunks: the cap of every body except typing patterns. */
const firstBufferBytes = 16 * 1024

/**
 * Starts an intake. It ends as `too-large` at the first byte past `maxBytes`, and as `no-room` if it has to grow and the incomplete
 * bodies together would exceed the budget.
 */
export function takeBody(maxBytes: number, room: BodyRoom): BodyIntake {
  let buffer: Uint8Array = none
  let length = 0
  let held = 0
  let ended: BodyEnd | null = null
  let tellWaiter: ((how: BodyEnd) => void) | null = null

  function end(how: BodyEnd): void {
    if (ended !== null) return
    ended = how
    room.held -= held
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
      // Usually a body is one chunk, which is copied once at its exact size.
      buffer = new Uint8Array(chunk.slice(0))
    } else if (chunk.byteLength > 0) {
      // Doubles instead of allocating the declared length, so that memory is spent only on bytes that have arrived.
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
