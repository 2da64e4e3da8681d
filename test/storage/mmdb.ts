/** A MaxMind DB file (format 2.0, IPv4, 24-bit records) of a few networks, for a real reader. */
type MmdbValue =
  | string
  | number
  | { readonly double: number }
  | { readonly [key: string]: MmdbValue }
  | readonly MmdbValue[]

const control = (type: number, size: number): number[] => (type > 7 ? [size, type - 7] : [(type << 5) | size])

function encoded(value: MmdbValue): number[] {
  if (typeof value === 'string') {
    const bytes = [...Buffer.from(value)]
    if (bytes.length < 29) return [...control(2, bytes.length), ...bytes]
    return [...control(2, 29), bytes.length - 29, ...bytes]
  }
  if (typeof value === 'number') {
    const bytes = Buffer.alloc(4)
    bytes.writeUInt32BE(value)
    return [...control(6, 4), ...bytes]
  }
  if (Array.isArray(value)) return [...control(11, value.length), ...value.flatMap(encoded)]
  if ('double' in value && typeof value.double === 'number') {
    const bytes = Buffer.alloc(8)
    bytes.writeDoubleBE(value.double)
    return [...control(3, 8), ...bytes]
  }
  const entries = Object.entries(value as Readonly<Record<string, MmdbValue>>)
  return [...control(7, entries.length), ...entries.flatMap(([key, of]) => [...encoded(key), ...encoded(of)])]
}

/** `networks` by CIDR; none contains another. */
export function mmdb(type: string, networks: Readonly<Record<string, MmdbValue>>): Uint8Array {
  const nodes: [number | null, number | null][] = [[null, null]]
  const data: number[] = []
  const leaves: { node: number; side: 0 | 1; offset: number }[] = []
  for (const [cidr, value] of Object.entries(networks)) {
    const [address = '', length = '32'] = cidr.split('/')
    const bits = address
      .split('.')
      .map((part) => Number(part).toString(2).padStart(8, '0'))
      .join('')
    let node = 0
    for (let i = 0; i < Number(length); i++) {
      const side = bits[i] === '1' ? 1 : 0
      if (i === Number(length) - 1) {
        leaves.push({ node, side, offset: data.length })
        break
      }
      const pair = nodes[node] ?? [null, null]
      let next = pair[side]
      if (next === null) {
        next = nodes.push([null, null]) - 1
        pair[side] = next
      }
      node = next
    }
    data.push(...encoded(value))
  }
  const records = nodes.map((pair) => pair.map((next) => next ?? nodes.length))
  for (const { node, side, offset } of leaves) (records[node] ?? [])[side] = nodes.length + 16 + offset
  const metadata = {
    binary_format_major_version: 2,
    binary_format_minor_version: 0,
    build_epoch: 1,
    database_type: type,
    description: { en: type },
    ip_version: 4,
    languages: ['en'],
    node_count: nodes.length,
    record_size: 24,
  }
  return new Uint8Array([
    ...records.flat().flatMap((record) => [(record >> 16) & 255, (record >> 8) & 255, record & 255]),
    ...Array<number>(16).fill(0),
    ...data,
    ...Buffer.from([0xab, 0xcd, 0xef]),
    ...Buffer.from('MaxMind.com'),
    ...encoded(metadata),
  ])
}
