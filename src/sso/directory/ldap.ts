import { readFileSync } from 'node:fs'
import { rootCertificates } from 'node:tls'
import { Client, type Entry, SizeLimitExceededError } from 'ldapts'
import { USER_REF_RULE } from '../../domain/user-ref.js'
import type { DirectorySettings } from '../settings.js'
import { secretOf } from '../settings.js'
import type { PeopleDirectory } from './directory.js'
import { personOf } from './person-of.js'

type LdapSettings = Extract<DirectorySettings, { kind: 'ldap' }>

const WITHIN_MS = 3_000

/**
 * An LDAP server as directory. Each look-up opens a connection, binds, searches once or twice and unbinds. An entry that cannot be
 * used is named in the log, and its person is not found.
 */
export function ldapDirectory(settings: LdapSettings, warn: (line: string) => void): PeopleDirectory {
  const { url, starttls, ca, bindDn, bindPasswordFile, base, attributes } = settings
  const filter = settings.filter.startsWith('(') ? settings.filter : `(${settings.filter})`
  const password = bindPasswordFile === undefined ? '' : secretOf('directory.bindPasswordFile', bindPasswordFile)
  const tls = {
    minVersion: 'TLSv1.2' as const,
    ...(ca === undefined ? {} : { ca: [...rootCertificates, readFileSync(ca, 'utf8')] }),
  }
  async function search(client: Client, by: string): Promise<Entry[]> {
    const options = { scope: 'sub' as const, filter: by, attributes: Object.values(attributes), sizeLimit: 2 }
    return (await client.search(base, options)).searchEntries
  }
  /**
   * Whether no other entry has a `userRef` that normalization makes equal to this one. The search is in lower case: if the server
   * compares case-sensitively, an entry with capitals does not find itself and is refused.
   */
  async function isAlone(client: Client, name: string, { dn }: Entry, written: string): Promise<boolean> {
    const spellings = spellingsOf(written.toLowerCase())
    if (spellings === null) return false
    const foundByIt = written === name.toLowerCase() && filter === `(${attributes.userRef}={name})`
    if (spellings.length === 1 && foundByIt) return true
    const either = spellings.map((one) => `(${attributes.userRef}=${escaped(one)})`).join('')
    const found = await search(client, `(&${filter.replaceAll('{name}', '*')}(|${either}))`)
    return found.length === 1 && found[0]?.dn === dn
  }
  return {
    async find(name) {
      const client = new Client({
        url,
        timeout: WITHIN_MS,
        connectTimeout: WITHIN_MS,
        strictDN: true,
        ...(url.startsWith('ldaps:') ? { tlsOptions: tls } : {}),
      })
      try {
        if (starttls) await client.startTLS({ ...tls, servername: new URL(url).hostname })
        if (bindDn !== undefined) await client.bind(bindDn, password)
        const [entry, another] = await search(client, filter.replaceAll('{name}', escaped(name)))
        if (entry === undefined || another !== undefined) return null
        const first = (attribute: string): unknown => {
          const value = entry[attribute]
          return Array.isArray(value) ? value[0] : value
        }
        const written = first(attributes.userRef)
        const person = personOf({
          userRef: written,
          email: first(attributes.email),
          displayName: first(attributes.displayName),
          language: first(attributes.language),
        })
        const unusable = (why: string) => {
          warn(`the directory has an entry that cannot be used: ${entry.dn}: ${attributes.userRef} ${why}`)
          return null
        }
        if (person === null) return unusable(USER_REF_RULE)
        return (await isAlone(client, name, entry, String(written)))
          ? person
          : unusable('becomes that of another entry by normalization, or has capitals that the server does not ignore')
      } catch (error) {
        if (error instanceof SizeLimitExceededError) return null
        throw error
      } finally {
        await client.unbind().catch(() => {})
      }
    },
  }
}

/** A server compares 256 spellings in one search. No measurement behind it. */
const SEPARATORS_MAX = 8

/** The texts that normalization makes equal to this one, because a space becomes a hyphen; null if there are too many. */
function spellingsOf(written: string): string[] | null {
  const [start = '', ...more] = written.trim().split(/[ -]/)
  if (more.length > SEPARATORS_MAX) return null
  return more.reduce((all, part) => all.flatMap((one) => [`${one}-${part}`, `${one} ${part}`]), [start])
}

/** A value inside a filter (RFC 4515, section 3). */
const escaped = (text: string): string =>
  [...Buffer.from(text)]
    .map((byte) => {
      const character = String.fromCharCode(byte)
      return /[A-Za-z0-9@._-]/.test(character) ? character : `\\${byte.toString(16).padStart(2, '0')}`
    })
    .join('')
