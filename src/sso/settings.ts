import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { z } from 'zod'
import { ExpectedFault } from '../base/expected-fault.js'
import { check, fieldPath } from '../base/validation.js'
import { Mailbox, TLS_MODES } from '../domain/alert-channels.js'
import { canonicalHost } from '../domain/alert-host.js'

/** An object that refuses unknown fields, so that a misspelt one is not ignored. */
export const strict = <T extends z.ZodRawShape>(shape: T) =>
  z.strictObject(shape, {
    error: (issue) => (issue.code === 'unrecognized_keys' ? `has unknown fields: ${issue.keys.join(', ')}` : undefined),
  })

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]'])

/** An https URL, or an http URL of the loopback interface, without user info, query and fragment. */
const Address = z.string().refine((text) => {
  if (!URL.canParse(text)) return false
  const { protocol, hostname, username, search, hash } = new URL(text)
  const safe = protocol === 'https:' || (protocol === 'http:' && LOOPBACK.has(hostname))
  return safe && username === '' && search === '' && hash === ''
}, 'must be an https URL (http for localhost) without user, query and fragment')

/** An address of an application: like `Address`, but it may have a query. Redirect URIs are compared as a whole. */
const RedirectUri = z.string().refine((text) => {
  if (!URL.canParse(text) || text.includes('*')) return false
  const { protocol, hostname, username, hash } = new URL(text)
  return (protocol === 'https:' || (protocol === 'http:' && LOOPBACK.has(hostname))) && username === '' && hash === ''
}, 'must be an https URL (http for localhost) without wildcard, user and fragment')

const port = z.int().min(0).max(65_535)
/** Minimum number of characters of a client's secret. */
export const SECRET_MIN = 16
const Secret = z.string().min(SECRET_MIN, `must have ${SECRET_MIN} characters or more`)

const Client = strict({
  id: z.string().min(1).max(200),
  name: z.string().min(1).max(200).optional().describe('the application in the words of people; by default the id'),
  secret: Secret.optional(),
  secretFile: z.string().min(1).optional(),
  redirectUris: z.array(RedirectUri).min(1),
  postLogoutRedirectUris: z.array(RedirectUri).default([]),
  backchannelLogoutUri: RedirectUri.optional(),
  flow: z
    .enum(['code', 'id_token'])
    .default('code')
    .describe('id_token: for Entra, which takes the ID token by form_post'),
  subject: z
    .enum(['person', 'hint'])
    .default('person')
    .describe('sub of the ID token; person: the userRef; hint: sub of the id_token_hint'),
  acr: strict({ typing: z.string().min(1), password: z.string().min(1) }).optional(),
  amr: strict({ typing: z.array(z.string().min(1)), password: z.array(z.string().min(1)) }).optional(),
})
  .refine(
    ({ flow, secret, secretFile }) => flow === 'id_token' || (secret === undefined) !== (secretFile === undefined),
    'must have one of secret and secretFile',
  )
  .refine(
    ({ flow, redirectUris }) => flow === 'code' || redirectUris.every((uri) => uri.startsWith('https:')),
    'must have https redirectUris with the flow id_token',
  )

const FileDirectory = strict({
  kind: z.literal('file'),
  path: z
    .string()
    .min(1)
    .describe('JSON: an array of {name, userRef?, email?, displayName?, language?}; read again when it changes'),
})

const LdapDirectory = strict({
  kind: z.literal('ldap'),
  url: z.string().regex(/^ldaps?:\/\/[^/\s]+$/, 'must be ldap://host:port or ldaps://host:port'),
  starttls: z.boolean().default(false),
  ca: z.string().min(1).optional().describe('PEM file of certificates to trust in addition to the well-known ones'),
  bindDn: z.string().min(1).optional(),
  bindPasswordFile: z.string().min(1).optional(),
  base: z.string().min(1),
  filter: z
    .string()
    .default('(uid={name})')
    .refine((text) => text.includes('{name}'), 'must contain {name}'),
  attributes: strict({
    userRef: z.string().min(1).default('uid'),
    email: z.string().min(1).default('mail'),
    displayName: z.string().min(1).default('cn'),
    language: z.string().min(1).default('preferredLanguage'),
  }).prefault({}),
})

const bindsWithPassword = ({ bindDn, bindPasswordFile }: z.output<typeof LdapDirectory>) =>
  (bindDn === undefined) === (bindPasswordFile === undefined)

const acceptUnverified = z
  .boolean()
  .default(false)
  .describe('whether an e-mail address or telephone number counts that the provider does not call verified')

const UserinfoDirectory = strict({
  kind: z.literal('userinfo'),
  issuer: Address.describe('the provider where a person signs in first; its userinfo is the directory'),
  clientId: z.string().min(1),
  clientSecretFile: z.string().min(1),
  scope: z.string().default('openid profile email'),
  userRef: z
    .string()
    .min(1)
    .default('preferred_username')
    .describe(
      'claim of userinfo that becomes the userRef. At some providers people choose their own preferred_username',
    ),
  acceptUnverified,
})

const Settings = strict({
  issuer: Address.transform((text) => text.replace(/\/$/, '')).refine(
    (text) => new URL(text).pathname === '/',
    'must be an address without a path',
  ),
  host: z.string().min(1).default('127.0.0.1'),
  port: port.default(8090),
  proxies: z
    .int()
    .min(0)
    .max(10)
    .default(0)
    .describe('reverse proxies in front of the bridge that add to X-Forwarded-For'),
  core: strict({
    url: z.url({ protocol: /^https?$/, error: 'must be an http or https URL' }),
    apikeyFile: z.string().min(1),
  }),
  directory: z.discriminatedUnion(
    'kind',
    [
      FileDirectory,
      LdapDirectory.refine(bindsWithPassword, 'must have both bindDn and bindPasswordFile, or neither'),
      UserinfoDirectory,
    ],
    { error: 'must be one of file, ldap, userinfo' },
  ),
  upstream: strict({
    issuer: Address,
    jwksUri: Address,
    audience: z.string().min(1),
    name: z
      .string()
      .min(1)
      .default('preferred_username')
      .describe(
        'claim of the id_token_hint that names the person. At some providers people choose their own preferred_username',
      ),
    acceptUnverified,
  }).optional(),
  mail: strict({
    host: z.string().refine((text) => canonicalHost(text) !== null, 'must be a host name or an address'),
    port: z.int().min(1).max(65_535),
    tls: z.enum(TLS_MODES),
    sender: Mailbox,
    user: z.string().min(1).nullable().default(null),
    passwordFile: z.string().min(1).optional(),
  })
    .optional()
    .describe('without it no one-time password is sent: nobody enrolls here, and a challenge ends the sign-in'),
  clients: z
    .array(Client)
    .min(1)
    .superRefine((all, context) => {
      for (const [at, { id }] of all.entries())
        if (all.findIndex((one) => one.id === id) < at)
          context.addIssue({ code: 'custom', path: [at, 'id'], message: 'is the id of another client' })
    }),
  enroll: z.boolean().default(true),
  resetAfterBlock: z.boolean().default(false),
  sessionMinutes: z
    .int()
    .min(0)
    .max(1440)
    .default(0)
    .describe('how long a sign-in serves further applications; 0: each asks for typing'),
})
  .refine(
    ({ clients, upstream }) => upstream !== undefined || clients.every(({ subject }) => subject === 'person'),
    'clients with subject "hint" need upstream',
  )
  .refine(
    ({ clients, directory }) => directory.kind !== 'userinfo' || clients.every(({ subject }) => subject === 'person'),
    'clients with subject "hint" need a directory that finds people by name: kind "file" or "ldap"',
  )
  .refine(
    ({ clients }) => clients.every(({ subject, flow }) => subject === 'person' || flow === 'id_token'),
    'clients with subject "hint" need flow "id_token"',
  )
export type SsoSettings = z.output<typeof Settings>
export type SsoClient = SsoSettings['clients'][number]
export type DirectorySettings = SsoSettings['directory']

/**
 * Reads and checks the settings file of the bridge. Paths in it are relative to its folder. Throws an `ExpectedFault` that
 * names every invalid field.
 */
export function readSsoSettings(path: string): SsoSettings {
  let given: unknown
  try {
    given = JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    const why = error instanceof SyntaxError ? `is not JSON: ${error.message}` : 'cannot be read'
    throw new ExpectedFault(`SSO_FILE: ${path} ${why}`)
  }
  const checked = check(Settings, given)
  if (!checked.ok) {
    const lines = checked.problems.map(
      ({ path: field, message }) => `  ${nameOf(field, given) || 'the file'}: ${message}`,
    )
    throw new ExpectedFault(`SSO_FILE: ${path} cannot be used:\n${lines.join('\n')}`)
  }
  return withPaths(checked.data, dirname(resolve(path)))
}

/** The path of a field, with the id of the client if it is a field of one. */
function nameOf(path: readonly PropertyKey[], given: unknown): string {
  const [list, at, ...rest] = path
  const id = (given as { clients?: { id?: unknown }[] } | null)?.clients?.[Number(at)]?.id
  if (list !== 'clients' || typeof id !== 'string') return fieldPath(path)
  return [`${fieldPath([list, Number(at)])} ${JSON.stringify(id)}`, fieldPath(rest)]
    .filter((part) => part !== '')
    .join(': ')
}

/** The settings with absolute paths. */
function withPaths(settings: SsoSettings, folder: string): SsoSettings {
  const at = <T extends string | undefined>(path: T) => (path === undefined ? path : resolve(folder, path)) as T
  const { core, directory, mail, clients } = settings
  return {
    ...settings,
    core: { ...core, apikeyFile: at(core.apikeyFile) },
    directory:
      directory.kind === 'file'
        ? { ...directory, path: at(directory.path) }
        : directory.kind === 'ldap'
          ? { ...directory, ca: at(directory.ca), bindPasswordFile: at(directory.bindPasswordFile) }
          : { ...directory, clientSecretFile: at(directory.clientSecretFile) },
    mail: mail === undefined ? mail : { ...mail, passwordFile: at(mail.passwordFile) },
    clients: clients.map((client) => ({ ...client, secretFile: at(client.secretFile) })),
  }
}

/** The content of a secret's file without outer white space. Throws an `ExpectedFault` that names the field. */
export function secretOf(field: string, path: string): string {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch {
    throw new ExpectedFault(`SSO_FILE: ${field}: ${path} cannot be read`)
  }
}
