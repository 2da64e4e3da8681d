import { readFileSync } from 'node:fs'
import { rootCertificates } from 'node:tls'
import { Client, SizeLimitExceededError } from 'ldapts'
import type { DirectorySettings } from '../settings.js'
import { secretOf } from '../settings.js'
import type { PeopleDirectory } from './directory.js'
import { personOf } from './person-of.js'

type LdapSettings = Extract<DirectorySettings, { kind: 'ldap' }>

const WITHIN_MS = 3_000

/** An LDAP server as directory. A look-up is one connection: bind, one search, unbind. */
export function ldapDirectory(settings: LdapSettings): PeopleDirectory {
  const { url, starttls, ca, bindDn, bindPasswordFile, base, filter, attributes } = settings
  const password = bindPasswordFile === undefined ? '' : secretOf('directory.bindPasswordFile', bindPasswordFile)
  const tls = {
    minVersion: 'TLSv1.2' as const,
    ...(ca === undefined ? {} : { ca: [...rootCertificates, readFileSync(ca, 'utf8')] }),
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
        const { searchEntries } = await client.search(base, {
          scope: 'sub',
          filter: filter.replaceAll('{name}', escaped(name)),
          attributes: Object.values(attributes),
          sizeLimit: 2,
        })
        const [entry] = searchEntries
        if (entry === undefined || searchEntries.length > 1) return null
        const first = (attribute: string): unknown => {
          const value = entry[attribute]
          return Array.isArray(value) ? value[0] : value
        }
        return personOf({
          userRef: first(attributes.userRef),
          email: first(attributes.email),
          displayName: first(attributes.displayName),
          language: first(attributes.language),
        })
      } catch (error) {
        if (error instanceof SizeLimitExceededError) return null
        throw error
      } finally {
        await client.unbind().catch(() => {})
      }
    },
    async close() {},
  }
}

/** A value inside a filter (RFC 4515, section 3). */
const escaped = (text: string): string =>
  [...Buffer.from(text)]
    .map((byte) => {
      const character = String.fromCharCode(byte)
      return /[A-Za-z0-9@._-]/.test(character) ? character : `\\${byte.toString(16).padStart(2, '0')}`
    })
    .join('')
