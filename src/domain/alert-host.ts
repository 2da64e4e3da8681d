import { type AddressRange, addressRange, addressSet, canonicalAddress } from '../base/address.js'

/** Hosts that this deployment may send alerts to: names, names below a domain, and address ranges. */
export interface HostList {
  readonly names: ReadonlySet<string>
  /** `.example.com` stands for all names below it. */
  readonly domains: readonly string[]
  readonly ranges: readonly AddressRange[]
}

const LABEL = '[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?'
const NAME = new RegExp(`^${LABEL}(?:\\.${LABEL})*$`)
const NAME_MAX = 253

/**
 * The canonical form of a host: a name in lower case without a final dot, IPv4 in decimal (octal, hexadecimal and one
 * number are accepted), IPv6 written out, IPv4-mapped IPv6 as IPv4. Null if the text is not a host.
 */
export function canonicalHost(text: string): string | null {
  if (text.includes(':')) return canonicalAddress(text.replace(/^\[(.*)\]$/, '$1').toLowerCase())
  if (text.length > NAME_MAX + 1 || !/^[A-Za-z0-9._-]+$/.test(text)) return null
  const host = readAsUrl(text.replace(/\.$/, ''))
  return host !== null && host.length <= NAME_MAX && NAME.test(host) ? host : null
}

/** Uses the URL standard, which knows every notation of IPv4; null if it accepts neither an address nor a name. */
function readAsUrl(text: string): string | null {
  try {
    return new URL(`http://${text}/`).hostname
  } catch {
    return null
  }
}

/** Reads entries such as `smtp.example.com`, `*.corp.example`, `10.1.0.0/16`; returns the first that cannot be read. */
export function hostList(entries: readonly string[]): HostList | { readonly unreadable: string } {
  const names = new Set<string>()
  const domains: string[] = []
  const ranges: AddressRange[] = []
  for (const entry of entries) {
    const range = addressRange(entry)
    const name = canonicalHost(entry.replace(/^\*\./, ''))
    if (range !== null) ranges.push(range)
    else if (name === null || (entry.startsWith('*.') && isAddress(name))) return { unreadable: entry }
    else if (entry.startsWith('*.')) domains.push(`.${name}`)
    else if (isAddress(name)) ranges.push(...[addressRange(name)].filter((one) => one !== null))
    else names.add(name)
  }
  return { names, domains, ranges }
}

/** Whether a canonical host is on the list and not in `NEVER`. */
export function mayAlert(host: string, { names, domains, ranges }: HostList): boolean {
  if (isAddress(host)) return addressSet(ranges)(host) && !neverReached(host)
  return names.has(host) || domains.some((domain) => host.endsWith(domain))
}

export const isAddress = (host: string): boolean => canonicalAddress(host) !== null

/**
 * Blocked even if listed: link-local, site-local and reserved addresses, metadata services, multicast, "this network", and
 * IPv6 that embeds an IPv4 address (translation, NAT64, Teredo, 6to4).
 */
const NEVER = [
  '0.0.0.0/8',
  '100.100.100.200/32',
  '168.63.129.16/32',
  '169.254.0.0/16',
  '192.0.0.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '::ffff:0:0:0/96',
  '64:ff9b::/32',
  '2001::/32',
  '2002::/16',
  'fd00:ec2::/32',
  'fe80::/10',
  'fec0::/10',
  'ff00::/8',
]
const never = addressSet(NEVER.map(addressRange).filter((range) => range !== null))

/** IPv4-compatible IPv6: the IPv4 address is in the last 32 bits. ::1 is the exception. */
const hidesV4 = (address: string) => address.startsWith('0:0:0:0:0:0:') && address !== '0:0:0:0:0:0:0:1'

/** Whether alerts are never sent to an address. `address` is canonical; true for text that is not an address. */
export const neverReached = (address: string): boolean => !isAddress(address) || hidesV4(address) || never(address)
