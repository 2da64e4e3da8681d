import { z } from 'zod'
import type { KeptPattern } from '../../storage/attempt-log.js'
import {
  dashboardRoute,
  iso,
  List,
  NoBody,
  NoParams,
  NoQuery,
  Paging,
  Row,
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

/** Patterns that were judged; the typing itself is not shown. */
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
    // Every judged attempt by typing has a pattern.
    const count = methods.find(({ value }) => value === 'biometric')?.n ?? 0
    return { status: 200, payload: { count, data: patterns.map(patternOf) } }
  },
})

/** Tested patterns and references alike. */
export const patternsById = dashboardRoute({
  ...Row,
  method: 'post',
  path: '/patterns',
  summary: 'Typing patterns by their ids',
  description: 'What is not there is left out.',
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

/** Tags of so many patterns are looked at: enough to know what there is, few enough to answer at once. */
const TAGS_AMONG = 10_000
const TAGS = `Of the newest ${TAGS_AMONG} tested patterns of the window.`

/** What patterns are tagged with. */
export const tagKeys = dashboardRoute({
  ...Row,
  method: 'get',
  path: '/patterns/tags',
  summary: 'Tag keys of typing patterns, most used first',
  description: TAGS,
  params: NoParams,
  query: withWindow({}),
  body: NoBody,
  replies: { 200: List(z.object({ tag: z.string(), n: z.int() })) },
  refuses: [],
  async handle({ organizationId, query, services }) {
    const window = windowOf(query, services.now())
    const tags = await services.attemptLog.tags(organizationId, null, window, TAGS_AMONG)
    return { status: 200, payload: { count: tags.length, data: tags.map(({ name, n }) => ({ tag: name, n })) } }
  },
})

/** What one tag says. */
export const tagValues = dashboardRoute({
  ...Row,
  method: 'get',
  path: '/patterns/tags/{tag}',
  summary: 'Values of one tag key, most used first',
  description: TAGS,
  params: z.object({ tag: z.string().min(1).max(64) }),
  query: withWindow({}),
  body: NoBody,
  replies: { 200: List(z.object({ value: z.string(), n: z.int() })) },
  refuses: [],
  async handle({ organizationId, params, query, services }) {
    const window = windowOf(query, services.now())
    const values = await services.attemptLog.tags(organizationId, params.tag, window, TAGS_AMONG)
    return { status: 200, payload: { count: values.length, data: values.map(({ name, n }) => ({ value: name, n })) } }
  },
})
