/**
 * The canonical form of an address: IPv4 in decimal; IPv6 in lower case, all groups written out, no leading zeros, no
 * `::`; IPv4-mapped IPv6 as IPv4. Null if the text is not an address, or has a zone (`%eth0`).
 */
export function canonicalAddress(text: string): string | null {
  const groups = text.includes(':') ? groupsOf(text) : null
  if (groups === null) return isV4(text) ? text : null
  const [a = 0, b = 0] = groups.slice(6)
  const mapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff
  if (mapped) return [a >> 8, a & 255, b >> 8, b & 255].join('.')
  return groups.map((group) => group.toString(16)).join(':')
}

/**
 * The canonical address in text that a proxy or a socket has written: it may have a port (`203.0.113.7:51008`,
 * `[2001:db8::1]:4711`), brackets, and a zone (`fe80::1%eth0`). Null if the text names no address, such as `unknown`.
 */
export function writtenAddress(text: string): string | null {
  const bare = text.trim().replace(/^(?:\[(.*)\]|([^:]*))(?::\d{1,5})?$/, '$1$2')
  return canonicalAddress(bare.replace(/%.*/, ''))
}

const OCTET = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)'
const V4 = new RegExp(`^${OCTET}(?:\\.${OCTET}){3}$`)
const isV4 = (text: string): boolean => V4.test(text)

/** The eight groups of an IPv6 address; null for anything else. */
function groupsOf(text: string): number[] | null {
  const v4 = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(text)
  if (v4 !== null) {
    const [, head = '', tail = ''] = v4
    if (!isV4(tail)) return null
    const [a = 0, b = 0, c = 0, d = 0] = tail.split('.').map(Number)
    return groupsOf(`${head}${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`)
  }
  const halves = text.split('::')
  if (halves.length > 2) return null
  const [left = [], right] = halves.map((half) => (half === '' ? [] : half.split(':')))
  const missing = 8 - left.length - (right?.length ?? 0)
  if (right === undefined ? missing !== 0 : missing < 1) return null
  const all = [...left, ...Array<string>(right === undefined ? 0 : missing).fill('0'), ...(right ?? [])]
  return all.every((group) => /^[0-9a-f]{1,4}$/i.test(group)) ? all.map((group) => Number.parseInt(group, 16)) : null
}

/** The prefix of a canonical address: its /24, or its /48 in IPv6. */
export function addressPrefix(address: string): string {
  if (!address.includes(':')) return `${address.split('.').slice(0, 3).join('.')}.0/24`
  return `${address.split(':').slice(0, 3).join(':')}::/48`
}

/** A range of addresses: their common leading bits. */
export interface AddressRange {
  readonly v6: boolean
  readonly bits: bigint
  readonly length: number
}

const bitsOf = (address: string): bigint =>
  address.includes(':')
    ? address.split(':').reduce((all, group) => (all << 16n) | BigInt(`0x${group}`), 0n)
    : address.split('.').reduce((all, part) => (all << 8n) | BigInt(part), 0n)

/** Reads `192.0.2.0/24`, `2001:db8::/32` or one address; null for anything else. Bits past the length are dropped. */
export function addressRange(text: string): AddressRange | null {
  const [head = '', tail, ...more] = text.split('/')
  const address = canonicalAddress(head)
  if (address === null || more.length > 0) return null
  const v6 = address.includes(':')
  const most = v6 ? 128 : 32
  const length = tail === undefined ? most : /^\d{1,3}$/.test(tail) ? Number(tail) : -1
  if (length < 0 || length > most) return null
  return { v6, bits: bitsOf(address) >> BigInt(most - length), length }
}

/** Returns a test whether an address is in any of the ranges: one set lookup per distinct prefix length. */
export function addressSet(ranges: readonly AddressRange[]): (address: string) => boolean {
  const byLength = new Map<string, { readonly shift: bigint; readonly heads: Set<bigint> }>()
  for (const { v6, bits, length } of ranges) {
    const key = `${v6 ? 6 : 4}/${length}`
    const one = byLength.get(key) ?? { shift: BigInt((v6 ? 128 : 32) - length), heads: new Set<bigint>() }
    one.heads.add(bits)
    byLength.set(key, one)
  }
  const families = [4, 6].map((family) =>
    [...byLength].filter(([key]) => key.startsWith(`${family}/`)).map(([, one]) => one),
  )
  return (address) => {
    const bits = bitsOf(address)
    return (families[address.includes(':') ? 1 : 0] ?? []).some(({ shift, heads }) => heads.has(bits >> shift))
  }
}
