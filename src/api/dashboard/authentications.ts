import { z } from 'zod'
import { INDICATORS } from '../../domain/context/signal.js'
import { Refusal } from '../../domain/refusal.js'
import type { TimeWindow } from '../../domain/time-window.js'
import { TYPED_WORDS } from '../../domain/typed-words.js'
import { UserRef } from '../../domain/user-ref.js'
import { indicatorsOf } from '../../flows/insight/inspect.js'
import type { Turn } from '../../http/route.js'
import type { AttemptFilter, ListedAttempt } from '../../storage/attempt-log.js'
import type { Tally } from '../../storage/statistics.js'
import { CountedFields, countedFields } from './counted-fields.js'
import {
  BucketField,
  type DashboardServices,
  Data,
  dashboardRoute,
  iso,
  List,
  NoBody,
  NoParams,
  NoQuery,
  Paging,
  Row,
  UserParams,
  unpaged,
  windowOf,
  withWindow,
} from './dashboard-route.js'

const Outcome = z.number().min(0).max(1).nullable().describe('null if unknown, and for a measurement; null is not 0')
const Signal = z
  .object({
    signal: z.string(),
    value: z.union([z.string(), z.number(), z.boolean()]).nullable(),
    reference: z.union([z.string(), z.number(), z.boolean()]).nullable().describe('the value compared with'),
    weight: z.number(),
    computedOutcome: Outcome,
  })
  .meta({ title: 'Signal' })
export const TypedWordsField = z
  .enum(TYPED_WORDS)
  .nullable()
  .describe(
    'whether the words of the session were typed: letters and digits in order after Backspace, without case, spaces and marks, as they were scored; masked in mode sensitive, where the keys are unknown; null for a security code, and for attempts of versions that did not compare',
  )
const Authentication = z
  .object({
    id: z.string(),
    created_at: z.iso.datetime(),
    user_ref: z.string(),
    member_ref: z.string(),
    account_type: z.enum(['nominative', 'generic']),
    user_display_name: z.string().nullable(),
    session_id: z.string().describe('the same for all attempts of one sign-in session'),
    auth_method: z.enum(['biometric', 'security_code']),
    authenticated: z.boolean(),
    recommended_action: z.enum(['auth', 'challenge', 'block']),
    reason: z.enum(['', 'detection-bot', 'fraud-detected']),
    confidence: z.number(),
    confidence_biometrics: z.number(),
    confidence_context: z.number().nullable().describe('null if no context signal was known'),
    indicators: z.array(z.object({ indicator: z.enum(INDICATORS), weight: z.number(), score: Outcome })),
    impossible_travel: z.boolean(),
    application: z.string().nullable(),
    ip: z.string().nullable(),
    policy_id: z.string(),
    n_patterns_ref: z.int(),
    n_patterns_ref_used: z.int(),
    pattern_id: z.string().nullable(),
    typed_words: TypedWordsField,
  })
  .meta({ title: 'Authentication' })
const OneAuthentication = Authentication.extend({
  indicators: z.array(
    z.object({ indicator: z.enum(INDICATORS), weight: z.number(), score: Outcome, signals: z.array(Signal) }),
  ),
  tags: z.array(z.object({ k: z.string(), v: z.string() })),
}).meta({ title: 'AuthenticationInFull' })

function authenticationOf(attempt: ListedAttempt): z.infer<typeof Authentication> {
  const { facts } = attempt
  return {
    id: attempt.id,
    created_at: iso(attempt.createdAt),
    user_ref: attempt.userRef,
    member_ref: attempt.memberRef,
    account_type: attempt.accountType,
    user_display_name: attempt.displayName,
    session_id: attempt.sessionId,
    auth_method: attempt.method,
    authenticated: attempt.authenticated,
    recommended_action: attempt.recommendedAction,
    reason: attempt.reason,
    confidence: attempt.confidence,
    confidence_biometrics: attempt.confidenceBiometrics,
    confidence_context: attempt.confidenceContext,
    indicators: indicatorsOf(attempt).map(({ indicator, weight, score }) => ({ indicator, weight, score })),
    impossible_travel: facts?.impossibleTravel ?? false,
    application: facts?.application ?? null,
    ip: facts?.ip ?? null,
    policy_id: attempt.policyId,
    n_patterns_ref: attempt.nPatternsRef,
    n_patterns_ref_used: attempt.nPatternsRefUsed,
    pattern_id: attempt.patternId,
    typed_words: facts?.typedWords ?? null,
  }
}

/** Filter of a list of attempts. */
const Filter = {
  user_ref: UserRef.optional(),
  auth_method: z.enum(['biometric', 'security_code']).optional(),
  recommended_action: z.enum(['auth', 'challenge', 'block']).optional(),
  reason: z.enum(['detection-bot', 'fraud-detected']).optional().describe('only typing has a reason'),
  application: z
    .string()
    .min(1)
    .max(80)
    .refine((text) => !text.includes('\0'), 'must not contain a null character')
    .optional()
    .describe('as in `GET /aggregations/application/`; only typing has one'),
}
const DAY_MS = 24 * 3600 * 1000
const AttemptsQuery = withWindow({ ...Paging, ...Filter })

/** Attempts of a tally with this recommendation. */
const ofAction = ({ n, nChallenged, nBlocked }: Tally, action: AttemptFilter['action']): number =>
  action === null ? n : { auth: n - nChallenged - nBlocked, challenge: nChallenged, block: nBlocked }[action]

interface Matches {
  readonly count: number
  /** The part of the filter's window that has matches. */
  readonly window: TimeWindow
}

/** Counts the matching attempts: from hourly counts if these suffice, else from the attempts, which an index then finds. */
async function matching(
  { attemptLog, statistics }: DashboardServices,
  organizationId: string,
  filter: AttemptFilter,
): Promise<Matches> {
  const { window, userRef, method, action, reason, application } = filter
  if (userRef !== null) return { count: await attemptLog.count(organizationId, filter), window }
  const typedOnly = reason !== null || application !== null
  if (typedOnly && method === 'security_code') return { count: 0, window }
  const [facet, wanted] =
    application !== null ? ['application', application] : reason !== null ? ['reason', reason] : ['method', method]
  const all = await statistics.tallies(organizationId, facet, window, facet === 'application' ? 'day' : null)
  const found = all.filter((one) => (wanted === null || one.value === wanted) && ofAction(one, action) > 0)
  const [first, last] = [found[0], found.at(-1)]
  if (first === undefined || last === undefined) return { count: 0, window }
  // No index finds an application, so a rare application is searched only on the days that have it.
  const days = { from: Math.max(window.from, first.at), to: Math.min(window.to, last.at + DAY_MS) }
  const part = facet === 'application' ? days : window
  if (reason !== null && application !== null)
    return { count: await attemptLog.count(organizationId, { ...filter, window: part }), window: part }
  return { count: found.reduce((sum, one) => sum + ofAction(one, action), 0), window: part }
}

/** Attempts read per slice of a page, which takes the process 4 ms. */
const SLICE = 100

interface Page {
  readonly organizationId: string
  readonly filter: AttemptFilter
  readonly skip: number
  readonly limit: number
}

async function pageOf({ attemptLog }: DashboardServices, { organizationId, filter, skip, limit }: Page, turn: Turn) {
  const page: z.infer<typeof Authentication>[] = []
  for (;;) {
    const first = page.length === 0
    const asked = { skip: first ? skip : 0, limit: Math.min(SLICE, limit - page.length) }
    const slice = await attemptLog.page(organizationId, filter, asked, page.at(-1)?.id ?? null)
    page.push(...slice.map(authenticationOf))
    if (slice.length < asked.limit || page.length === limit) return page
    await turn()
  }
}

async function attempts(
  services: DashboardServices,
  organizationId: string,
  query: z.output<typeof AttemptsQuery>,
  turn: Turn,
) {
  const filter = {
    window: windowOf(query, services.now()),
    userRef: query.user_ref ?? null,
    method: query.auth_method ?? null,
    action: query.recommended_action ?? null,
    reason: query.reason ?? null,
    application: query.application ?? null,
  }
  const { count, window } = await matching(services, organizationId, filter)
  const { skip, limit } = query
  const asked = { organizationId, filter: { ...filter, window }, skip, limit }
  return { status: 200, payload: { count, data: count === 0 ? [] : await pageOf(services, asked, turn) } }
}

export const listAuthentications = dashboardRoute({
  ...Row,
  method: 'get',
  path: '/authentications',
  summary: 'Authentications, newest first',
  params: NoParams,
  query: AttemptsQuery,
  body: NoBody,
  replies: { 200: List(Authentication) },
  refuses: [],
  handle: ({ organizationId, query, services, turn }) => attempts(services, organizationId, query, turn),
})

/** The list of `/authentications`, for the drill-down from a point of a series. */
export const activityDetails = dashboardRoute({
  ...Row,
  method: 'get',
  path: '/activities-details',
  summary: 'The authentications behind a point of a series',
  description: 'The window is the point: its date as date_from, the date of the next point as date_to.',
  params: NoParams,
  query: AttemptsQuery,
  body: NoBody,
  replies: { 200: List(Authentication) },
  refuses: [],
  handle: ({ organizationId, query, services, turn }) => attempts(services, organizationId, query, turn),
})

export const Id = z.object({ id: z.uuid().toLowerCase() })

export const oneAuthentication = dashboardRoute({
  ...Row,
  method: 'get',
  path: '/authentications/{id}',
  summary: 'One authentication, with every signal of every indicator',
  params: Id,
  query: NoQuery,
  body: NoBody,
  replies: { 200: Data(OneAuthentication) },
  refuses: ['nothing-found'],
  async handle({ organizationId, params, services }) {
    const attempt = await services.inspect.attempt(organizationId, params.id)
    const tags = [...(attempt.facts?.tags ?? [])]
    return { status: 200, payload: { data: { ...authenticationOf(attempt), indicators: indicatorsOf(attempt), tags } } }
  },
})

const History = List(z.object({ date: z.iso.datetime(), ...CountedFields }))

export const authenticationsHistory = dashboardRoute({
  ...Row,
  method: 'get',
  path: '/authentications-history',
  summary: 'Authentications over time',
  params: NoParams,
  query: withWindow({ bucket: BucketField }),
  body: NoBody,
  replies: { 200: History },
  refuses: [],
  async handle({ organizationId, query, services }) {
    const series = await services.series.attempts(organizationId, windowOf(query, services.now()), query.bucket)
    return { status: 200, payload: unpaged(series.map((one) => ({ date: iso(one.at), ...countedFields(one) }))) }
  },
})

export const userHistory = dashboardRoute({
  ...Row,
  method: 'get',
  path: '/authentications-history/{userRef}',
  summary: "One user's authentications over time",
  params: UserParams,
  query: withWindow({ bucket: BucketField }),
  body: NoBody,
  replies: { 200: History },
  refuses: ['user-not-found'],
  async handle({ organizationId, params, query, services }) {
    await services.inspect.requireUser(organizationId, params.userRef)
    const window = windowOf(query, services.now())
    const series = await services.series.attempts(organizationId, window, query.bucket, params.userRef)
    return { status: 200, payload: unpaged(series.map((one) => ({ date: iso(one.at), ...countedFields(one) }))) }
  },
})

const IndicatorParams = Id.extend({ indicator: z.enum(INDICATORS) })

export const indicatorSignals = dashboardRoute({
  ...Row,
  method: 'get',
  path: '/authentication/{id}/{indicator}/signals',
  summary: 'The signals of one indicator of one authentication',
  params: IndicatorParams,
  query: NoQuery,
  body: NoBody,
  replies: { 200: List(Signal) },
  refuses: ['nothing-found'],
  async handle({ organizationId, params, services }) {
    const signals = await services.inspect.signals(organizationId, params.id, params.indicator)
    return { status: 200, payload: unpaged(signals) }
  },
})

export const indicatorSignal = dashboardRoute({
  ...Row,
  method: 'get',
  path: '/authentication/{id}/{indicator}/signals/{signal}',
  summary: 'One signal of one indicator of one authentication',
  params: IndicatorParams.extend({ signal: z.string().max(32) }),
  query: NoQuery,
  body: NoBody,
  replies: { 200: Data(Signal) },
  refuses: ['nothing-found'],
  async handle({ organizationId, params, services }) {
    const signals = await services.inspect.signals(organizationId, params.id, params.indicator)
    const data = signals.find(({ signal }) => signal === params.signal)
    if (data === undefined) throw new Refusal('nothing-found', 'this indicator has no such signal')
    return { status: 200, payload: { data } }
  },
})
