import { z } from 'zod'
import { KEY_SCOPES, scopesAllow } from '../../domain/organization.js'
import { momentOf } from '../../domain/time-window.js'
import type { ApiKeyRecord } from '../../storage/api-key.js'
import {
  Data,
  dashboardRoute,
  Flag,
  iso,
  isoOrNull,
  List,
  Moment,
  NoBody,
  NoParams,
  NoQuery,
  Paging,
  Row,
} from './dashboard-route.js'

const Scopes = z.array(z.enum(KEY_SCOPES))
const Key = z
  .object({
    id: z.string(),
    label: z.string(),
    scopes: Scopes.describe('`dashboard` means `dashboard:read` and `dashboard:operate`'),
    created_at: z.iso.datetime(),
    expires_at: z.iso.datetime().nullable().describe('null if the key never expires'),
    revoked_at: z.iso.datetime().nullable(),
    state: z.enum(['live', 'expired', 'revoked']),
    own: z.boolean().describe('the key of this call'),
  })
  .meta({ title: 'ApiKey' })

function keyOf(key: ApiKeyRecord, now: number, own: boolean): z.infer<typeof Key> {
  const expired = key.expiresAt !== null && key.expiresAt <= now
  return {
    id: key.id,
    label: key.label,
    scopes: [...key.scopes],
    created_at: iso(key.createdAt),
    expires_at: isoOrNull(key.expiresAt),
    revoked_at: isoOrNull(key.revokedAt),
    state: key.revokedAt !== null ? 'revoked' : expired ? 'expired' : 'live',
    own,
  }
}

/** The calling key, so that a client can hide what the key may not do. */
export const currentKey = dashboardRoute({
  ...Row,
  method: 'get',
  path: '/key',
  summary: 'The key of this call, and what it may do',
  params: NoParams,
  query: NoQuery,
  body: NoBody,
  replies: {
    200: Data(
      Key.extend({
        organization_id: z.string(),
        may: z
          .object({ read: z.boolean(), operate: z.boolean(), core: z.boolean(), links: z.boolean() })
          .describe('reads and writes of this API, all calls of the core API, all calls of the profile-link API'),
      }),
    ),
  },
  refuses: [],
  async handle({ organizationId, apiKeyId, services }) {
    const key = await services.keys.current(organizationId, apiKeyId)
    const may = {
      read: scopesAllow(key.scopes, 'dashboard', true),
      operate: scopesAllow(key.scopes, 'dashboard', false),
      core: scopesAllow(key.scopes, 'core', false),
      links: scopesAllow(key.scopes, 'links', false),
    }
    const data = { ...keyOf(key, services.now(), true), organization_id: organizationId, may }
    return { status: 200, payload: { data } }
  },
})

/** The keys themselves are not stored. */
export const listKeys = dashboardRoute({
  ...Row,
  method: 'get',
  path: '/keys',
  summary: 'API keys of the organization, newest first; never the keys themselves',
  description: 'The last use of a key is not recorded.',
  params: NoParams,
  query: z.object({ ...Paging, live: Flag.default('false').describe('if true, only keys that work now') }),
  body: NoBody,
  replies: { 200: List(Key) },
  refuses: [],
  async handle({ organizationId, apiKeyId, query, services }) {
    const { keys, count } = await services.keys.page(organizationId, query.live === 'true', query)
    const data = keys.map((key) => keyOf(key, services.now(), key.id === apiKeyId))
    return { status: 200, payload: { count, data } }
  },
})

export const issueKey = dashboardRoute({
  ...Row,
  method: 'post',
  path: '/keys',
  summary: 'Issue an API key; the answer shows it this once',
  description:
    'A key gives no scope that it does not have itself, and a key that expires issues none that is valid for longer: both ' +
    'are 403. `dashboard` is `dashboard:read` and `dashboard:operate`.',
  params: NoParams,
  query: NoQuery,
  body: {
    kind: 'json',
    schema: z
      .object({
        label: z.string().trim().min(1).max(100).describe('what the key is for'),
        scopes: Scopes.min(1).max(KEY_SCOPES.length),
        expires_at: Moment.nullish().describe('by default, the expiry of the calling key'),
      })
      .meta({ examples: [{ label: 'console of Ann', scopes: ['dashboard'], expires_at: '2099-01-01T00:00Z' }] }),
  },
  replies: {
    201: Data(
      z.object({
        id: z.string(),
        label: z.string(),
        scopes: Scopes,
        expires_at: z.iso.datetime().nullable(),
        apikey: z.string().describe('not stored: it cannot be shown again'),
      }),
    ),
  },
  refuses: ['validation-failed', 'key-scope'],
  async handle({ organizationId, apiKeyId, body, services }) {
    const wanted = {
      label: body.label,
      scopes: KEY_SCOPES.filter((scope) => body.scopes.includes(scope)),
      expiresAt: body.expires_at == null ? null : momentOf(body.expires_at),
    }
    const { id, apikey, scopes, expiresAt } = await services.keys.issue(organizationId, apiKeyId, wanted)
    const data = { id, label: body.label, scopes: [...scopes], expires_at: isoOrNull(expiresAt), apikey }
    return { status: 201, payload: { data } }
  },
})

export const revokeKey = dashboardRoute({
  ...Row,
  method: 'delete',
  path: '/keys/{id}',
  summary: 'Revoke an API key; every process refuses it within a second',
  description: 'A key with a scope that the calling key does not have is 403, the calling key itself 409.',
  params: z.object({ id: z.uuid().toLowerCase() }),
  query: NoQuery,
  body: NoBody,
  replies: { 200: z.object({}) },
  refuses: ['nothing-found', 'key-own'],
  async handle({ organizationId, apiKeyId, params, services }) {
    await services.keys.revoke(organizationId, apiKeyId, params.id)
    return { status: 200, payload: {}, message: 'Revoked' }
  },
})
