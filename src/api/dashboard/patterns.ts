import { z } from 'zod'
import type { KeptPattern } from '../../storage/attempt-log.js'
import {
  type DashboardServices,
  dashboardRoute,
  iso,
  List,
  NoBody,
  NoParams,
  NoQuery,
  Paging,
  Row,
  unpaged,
  windowOf,
  withWindow,
} from './dashboard-route.js'

const Pattern = z.object({
  id: z.string(),
  kind: z.enum(['tested', 'enrolled', 'adaptive']),
  user_ref: z.string(),
  member_ref: z.string(),
  mode: z.enum(['visible', 'sensitive']).nullable(),
  created_at: z.iso.datetime(),
  authentication_id: z.string().nullable().describe('null for a reference'),
  tags: z.array(z.object({ k: z.string(), v: z.string() })),
})
const patternOf = (pattern: KeptPattern): z.infer<typeof Pattern> => ({
  id: pattern.id,
  kind: pattern.kind,
  user_ref: pattern.userRef,
  member_ref: pattern.memberRef,
  mode: pattern.mode,
  created_at: iso(pattern.createdAt),
  authentication_id: pattern.authenticationId,
  tags: [...pattern.tags],
})

/** Tested patterns, without the typing itself. */
export const listPatterns = dashboardRoute({
  ...Row,
  method: 'get',
  path: '/patterns',
  summary: 'Tested typing patterns, newest first',
  params: NoParams,
  query: withWindow(Paging),
  body: NoBody,
  replies: { 200: List(Pattern) },
  refuses: [],
  async handle({ organizationId, query, services }) {
    const window = windowOf(query, services.now())
    const [patterns, methods] = await Promise.all([
      services.attemptLog.patterns(organizationId, window, query),
      services.statistics.tallies(organizationId, 'method', window, null),
    ])
    // Every scored typing attempt has a pattern.
    const count = methods.find(({ value }) => value === 'biometric')?.n ?? 0
    return { status: 200, payload: { count, data: patterns.map(patternOf) } }
  },
})

/** Tested patterns and references. */
export const patternsById = dashboardRoute({
  ...Row,
  method: 'post',
  path: '/patterns',
  onlyReads: true,
  summary: 'Typing patterns by their ids',
  description: 'An unknown id is left out of the answer.',
  params: NoParams,
  query: NoQuery,
  body: {
    kind: 'json',
    schema: z
      .object({ ids: z.array(z.uuid().toLowerCase()).min(1).max(200) })
      .meta({ examples: [{ ids: ['019aa5e2-7c1b-7d3a-9f60-0b2c8f4e1a57'] }] }),
  },
  replies: { 200: List(Pattern) },
  refuses: ['validation-failed'],
  async handle({ organizationId, body, services }) {
    const patterns = await services.attemptLog.patternsById(organizationId, body.ids)
    return { status: 200, payload: { count: patterns.length, data: patterns.map(patternOf) } }
  },
})

/** Largest number of patterns whose tags one answer counts: it takes 25 ms (npm run bench -- dashboard). */
const TAGS_AMONG = 10_000
const TAGS = `The counts cover the newest ${TAGS_AMONG} tested patterns of the window.`

const TagCounts = List(z.object({ tag: z.string(), n: z.int() }))
const ValueCounts = List(z.object({ value: z.string(), n: z.int() }))
const TagParams = z.object({ tag: z.string().min(1).max(64) })
const TagWindow = withWindow({})
const WindowBody = {
  kind: 'json',
  optional: true,
  schema: TagWindow.meta({ examples: [{ date_from: '2026-11-01T00:00Z' }] }),
} as const

type Given = z.output<typeof TagWindow>

async function tagsOf(services: DashboardServices, organizationId: string, given: Given) {
  const window = windowOf(given, services.now())
  const tags = await services.attemptLog.tags(organizationId, null, window, TAGS_AMONG)
  return { status: 200, payload: unpaged(tags.map(({ name, n }) => ({ tag: name, n }))) }
}

async function valuesOf(services: DashboardServices, organizationId: string, tag: string, given: Given) {
  const window = windowOf(given, services.now())
  const values = await services.attemptLog.tags(organizationId, tag, window, TAGS_AMONG)
  return { status: 200, payload: unpaged(values.map(({ name, n }) => ({ value: name, n }))) }
}

export const tagKeys = dashboardRoute({
  ...Row,
  method: 'get',
  path: '/patterns/tags',
  summary: 'Tag keys of typing patterns, most used first',
  description: TAGS,
  params: NoParams,
  query: TagWindow,
  body: NoBody,
  replies: { 200: TagCounts },
  refuses: [],
  handle: ({ organizationId, query, services }) => tagsOf(services, organizationId, query),
})

/** As `tagKeys`, with the window in the body. */
export const searchTagKeys = dashboardRoute({
  ...Row,
  method: 'post',
  path: '/patterns/tags',
  onlyReads: true,
  summary: 'Tag keys of typing patterns, most used first',
  description: TAGS,
  params: NoParams,
  query: NoQuery,
  body: WindowBody,
  replies: { 200: TagCounts },
  refuses: ['validation-failed'],
  handle: ({ organizationId, body, services }) => tagsOf(services, organizationId, body),
})

export const tagValues = dashboardRoute({
  ...Row,
  method: 'get',
  path: '/patterns/tags/{tag}',
  summary: 'Values of one tag key, most used first',
  description: TAGS,
  params: TagParams,
  query: TagWindow,
  body: NoBody,
  replies: { 200: ValueCounts },
  refuses: [],
  handle: ({ organizationId, params, query, services }) => valuesOf(services, organizationId, params.tag, query),
})

/** As `tagValues`, with the window in the body. */
export const searchTagValues = dashboardRoute({
  ...Row,
  method: 'post',
  path: '/patterns/tags/{tag}',
  onlyReads: true,
  summary: 'Values of one tag key, most used first',
  description: TAGS,
  params: TagParams,
  query: NoQuery,
  body: WindowBody,
  replies: { 200: ValueCounts },
  refuses: ['validation-failed'],
  handle: ({ organizationId, params, body, services }) => valuesOf(services, organizationId, params.tag, body),
})
