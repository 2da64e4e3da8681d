/** Looks for many byte strings at once; each has at least four bytes. */
interface Needles {
  /** The names of the strings that the bytes contain. */
  foundIn(bytes: Uint8Array): Set<string>
}

/** Indexed by the first four bytes of each string: one look-up a position, whatever the number of strings. */
export function needlesOf(all: ReadonlyMap<string, Buffer>): Needles {
  const byHead = new Map<number, { name: string; needle: Buffer }[]>()
  const mayBegin = new Uint8Array(1 << 16)
  for (const [name, needle] of all) {
    if (needle.length < 4) throw new Error(`${name} is too short to look for`)
    const head = needle.readUInt32LE(0)
    mayBegin[head & 0xffff] = 1
    byHead.set(head, [...(byHead.get(head) ?? []), { name, needle }])
  }
  return {
    foundIn(given) {
      const bytes = Buffer.from(given.buffer, given.byteOffset, given.byteLength)
      const found = new Set<string>()
      for (let at = 0; at + 4 <= bytes.length; at++) {
        if (mayBegin[(bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8)] === 0) continue
        for (const { name, needle } of byHead.get(bytes.readUInt32LE(at)) ?? [])
          if (needle.compare(bytes, at, Math.min(at + needle.length, bytes.length)) === 0) found.add(name)
      }
      return found
    },
  }
}
