import type { IncomingMessage, ServerResponse } from 'node:http'
import type Provider from 'oidc-provider'
import { enteredDigits } from '../domain/entered-code.js'
import { Refusal } from '../domain/refusal.js'
import { SSO_CODES, SSO_SENTENCES, type SsoSituation } from '../domain/sso-code.js'
import { OWN_BROWSER_MS } from '../domain/stranger-tries.js'
import type { Language } from '../domain/typing-words.js'
import type { Artifacts } from './artifacts.js'
import { writtenName } from './directory/directory.js'
import { endedPage, languageOf, onwardPage, situationOf, stepPage, wishedLanguage } from './pages.js'
import { begun, type PasswordPurpose, type Progress, type Step } from './progress.js'
import { ACR, AMR, hintedName, hintOf, INTERACTION_MS, SIGNED_IN_MS } from './provider.js'
import type { SsoSettings } from './settings.js'
import type { Action, advance } from './sign-in.js'
import type { Strangers } from './strangers.js'
import type { FoundUpstream, UpstreamLogin } from './upstream-login.js'

interface Needs {
  readonly settings: SsoSettings
  readonly provider: () => Provider
  readonly artifacts: Artifacts
  readonly advance: (progress: Progress, action: Action, call: Parameters<typeof advance>[3]) => Promise<Progress>
  readonly strangers: Pick<Strangers, 'cookieOf'>
  /** Null if the directory finds people by name. */
  readonly upstream: UpstreamLogin | null
  readonly now: () => number
  /** Headers of every page. */
  readonly headers: Readonly<Record<string, string>>
  /** Called when the upstream provider could not be reached. */
  readonly onFailure: (error: unknown) => void
  /** Called for each step with a numbered situation. */
  readonly onSituation: (code: number, sentence: string, facts: { client: string; interaction: string }) => void
}

interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly url: URL
  /** The form of a POST; null for other methods. */
  readonly form: URLSearchParams | null
  /** Null if unknown. */
  readonly ip: string | null
}

/** The pages of the sign-in, below `/interaction/`, and `/upstream`, to which the upstream provider redirects. */
export interface Interactions {
  answer(exchange: Exchange): Promise<void>
}

type Details = Awaited<ReturnType<Provider['interactionDetails']>>

const PURPOSES: readonly string[] = ['enroll', 'step-up', 'reset', 'browser'] satisfies PasswordPurpose[]

export const createInteractions = (needs: Needs): Interactions => ({
  async answer(exchange) {
    const { request, response, url, form } = exchange
    // The cookie of the interaction is for its path only.
    if (url.pathname === '/upstream') return redirect(response, pathOfUpstream(url))
    const details = await detailsOf(needs, request, response)
    if (details === null) {
      const language = languageOf(url.searchParams.get('language'), request.headers['accept-language'] ?? null)
      return send(response, 404, endedPage(language), needs.headers)
    }
    // Nobody is asked for consent.
    if (details.prompt.name !== 'login') return needs.provider().interactionFinished(request, response, { consent: {} })
    if (form !== null) return act(needs, exchange, details, form)
    return show(needs, exchange, details)
  },
})

/** The path of the interaction that the `state` of the upstream provider's answer names. */
function pathOfUpstream({ searchParams }: URL): string {
  const uid = (searchParams.get('state') ?? '').split('.')[0] ?? ''
  return `/interaction/${encodeURIComponent(uid)}?${searchParams}`
}

/** The interaction of a request; null if it is over or belongs to another browser. */
async function detailsOf({ provider }: Needs, request: IncomingMessage, response: ServerResponse) {
  try {
    return await provider().interactionDetails(request, response)
  } catch (error) {
    if ((error as Error).name === 'SessionNotFound') return null
    throw error
  }
}

async function show(needs: Needs, exchange: Exchange, details: Details): Promise<void> {
  const { response, url } = exchange
  const { upstream } = needs
  let progress = await progressOf(needs, details)
  if (upstream !== null && isUnnamed(progress)) {
    const next = await askUpstream({ ...needs, upstream }, exchange, details, progress)
    if (typeof next === 'string') return redirect(response, next)
    progress = next
  }
  if (progress.step.kind === 'name' && progress.name !== null) {
    progress = await needs.advance(progress, { kind: 'begin' }, callOf(needs, exchange, details))
    await keep(needs, details, progress)
  }
  if (url.searchParams.has('state')) return redirect(response, url.pathname)
  send(response, 200, await pageOf(needs, exchange, details, progress), needs.headers)
}

/** Whether no person is known yet: on the first page, or after the upstream provider was unreachable. */
const isUnnamed = ({ person, step }: Progress): boolean =>
  person === null && (step.kind === 'name' || step.kind === 'trouble')

/** The address at the upstream provider, or the progress after its answer. */
async function askUpstream(
  needs: Needs & { readonly upstream: UpstreamLogin },
  { url }: Exchange,
  details: Details,
  progress: Progress,
): Promise<string | Progress> {
  const { upstream } = needs
  let found: FoundUpstream
  try {
    if (!url.searchParams.has('state')) return await upstream.begin(details.uid, hintedName(details.params))
    found = await upstream.person(details.uid, url)
  } catch (error) {
    if (error instanceof Refusal) throw error
    needs.onFailure(error)
    const away: Progress = { ...progress, step: { kind: 'trouble', situation: 'not-in-directory' } }
    await keep(needs, details, away)
    return away
  }
  if ('person' in found) {
    const { person, subject } = found
    return { ...progress, name: person.userRef, subject, person, step: { kind: 'name', note: null } }
  }
  const step: Step = { kind: 'refused', situation: found.refused, until: null, resettable: false }
  const refused: Progress = { ...progress, step }
  await keep(needs, details, refused)
  return refused
}

/** Acts on a form of the page. Redirects to the page, so that a reload sends nothing twice. */
async function act(needs: Needs, exchange: Exchange, details: Details, form: URLSearchParams): Promise<void> {
  const { request, response, url } = exchange
  if (!isOwn(request)) return send(response, 403, endedPage(languageFor(exchange, details)), needs.headers)
  const before = await progressOf(needs, details)
  if (form.get('action') === 'cancel') return cancel(needs, exchange, details, before)
  const action = actionOf(form)
  // Without a person, the page asks the upstream provider again.
  if (action !== null && !(needs.upstream !== null && isUnnamed(before))) {
    const progress = await needs.advance(before, action, callOf(needs, exchange, details))
    await keep(needs, details, progress)
  }
  const language = url.searchParams.get('language')
  redirect(response, language === null ? url.pathname : `${url.pathname}?language=${encodeURIComponent(language)}`)
}

/** Whether a form comes from a page of the bridge. `SameSite` excludes other sites; this check excludes other origins of the site. */
const isOwn = ({ headers }: IncomingMessage): boolean =>
  headers['sec-fetch-site'] === undefined || headers['sec-fetch-site'] === 'same-origin'

function actionOf(form: URLSearchParams): Action | null {
  const text = (name: string) => form.get(name) ?? ''
  switch (form.get('action')) {
    case 'begin':
      return { kind: 'begin' }
    case 'name':
      return { kind: 'name', name: writtenName(text('name')) }
    case 'pattern':
      return { kind: 'pattern', pattern: text('pattern') }
    case 'code':
      return { kind: 'code', code: enteredDigits(text('code')) }
    case 'password':
      return { kind: 'password', password: text('password') }
    case 'send':
      return PURPOSES.includes(text('purpose')) ? { kind: 'send', purpose: text('purpose') as PasswordPurpose } : null
    default:
      return null
  }
}

/** The cookie of a browser that has signed in: see `Strangers`. */
const OWN_BROWSER = 'keystride_own'

const ownBrowserCookie = (value: string, issuer: string): string =>
  `${OWN_BROWSER}=${value}; Path=/interaction; Max-Age=${OWN_BROWSER_MS / 1000}; HttpOnly; SameSite=Lax${issuer.startsWith('https:') ? '; Secure' : ''}`

const cookieOf = ({ headers }: IncomingMessage, name: string): string | null =>
  headers.cookie
    ?.split(';')
    .map((pair) => pair.trim())
    .find((pair) => pair.startsWith(`${name}=`))
    ?.slice(name.length + 1) ?? null

const callOf = ({ now }: Needs, exchange: Exchange, details: Details) => ({
  ip: exchange.ip,
  language: languageFor(exchange, details),
  browser: cookieOf(exchange.request, OWN_BROWSER),
  now: now(),
})

const languageFor = ({ request, url }: Exchange, { params }: Details): Language =>
  languageOf(
    url.searchParams.get('language') ?? wishedLanguage(params.ui_locales),
    request.headers['accept-language'] ?? null,
  )

const progressOf = async ({ artifacts }: Needs, { uid, params }: Details): Promise<Progress> =>
  (await artifacts.find<Progress>('SignIn', uid)) ?? begun(hintedName(params), hintOf(params)?.sub ?? null)

async function keep({ artifacts, onSituation }: Needs, { uid, params }: Details, progress: Progress): Promise<void> {
  const situation = situationOf(progress.step)
  if (situation !== null)
    onSituation(SSO_CODES[situation], SSO_SENTENCES[situation], { client: String(params.client_id), interaction: uid })
  await artifacts.put('SignIn', uid, progress, {
    lifetimeMs: INTERACTION_MS,
    userRef: progress.person?.userRef ?? null,
  })
}

/** The page of a step. A passed sign-in is handed to the provider first. */
async function pageOf(needs: Needs, exchange: Exchange, details: Details, progress: Progress): Promise<string> {
  const onward = progress.step.kind === 'passed' ? await finish(needs, exchange, details, progress) : ''
  const language = languageFor(exchange, details)
  return stepPage(progress, { language, application: applicationOf(needs, details), now: needs.now(), onward })
}

/** Completes the login; returns the address at the provider where the browser continues. */
async function finish(
  { settings, artifacts, provider, strangers }: Needs,
  { request, response }: Exchange,
  { params }: Details,
  { name, person, step, passedAt }: Progress,
): Promise<string> {
  if (person === null || step.kind !== 'passed' || passedAt === null)
    throw new Error('a sign-in that has not passed cannot be finished')
  const client = settings.clients.find(({ id }) => id === params.client_id)
  // The ID token names the person of the hint, so the person who signed in must be that one.
  if (client?.subject === 'hint' && (hintOf(params) === null || hintedName(params) !== name))
    throw new Error('a sign-in of another person than that of the hint cannot be finished')
  const acr = (client?.acr ?? ACR)[step.by]
  await artifacts.put('SignedIn', person.userRef, person, {
    lifetimeMs: SIGNED_IN_MS,
    userRef: person.userRef,
  })
  const own = await strangers.cookieOf(person.userRef)
  if (own !== null) response.appendHeader('set-cookie', ownBrowserCookie(own, settings.issuer))
  if (!mayBe(params.claims, acr))
    return provider().interactionResult(request, response, {
      error: 'unmet_authentication_requirements',
      error_description: `the sign-in has the acr ${acr}`,
    })
  return provider().interactionResult(request, response, {
    login: {
      accountId: person.userRef,
      acr,
      amr: [...(client?.amr ?? AMR)[step.by]],
      ts: Math.floor(passedAt / 1000),
      remember: settings.sessionMinutes > 0,
    },
  })
}

/** Whether the claims parameter of a request accepts this acr. Without essential values every acr is accepted. */
function mayBe(claims: unknown, acr: string): boolean {
  if (typeof claims !== 'string') return true
  // The provider has checked it.
  const wanted = JSON.parse(claims)?.id_token?.acr
  if (wanted?.essential !== true) return true
  return Array.isArray(wanted.values) ? wanted.values.includes(acr) : wanted.value === undefined || wanted.value === acr
}

/** Ends the sign-in without a login, and sends the reason to the application. */
async function cancel(needs: Needs, exchange: Exchange, details: Details, { step }: Progress): Promise<void> {
  const { request, response } = exchange
  const situation: SsoSituation | null = situationOf(step)
  const to = await needs.provider().interactionResult(request, response, {
    error: step.kind === 'trouble' ? 'temporarily_unavailable' : 'access_denied',
    error_description:
      situation === null ? 'the person ended the sign-in' : `${SSO_CODES[situation]} ${SSO_SENTENCES[situation]}`,
  })
  await needs.artifacts.end('SignIn', details.uid)
  const language = languageFor(exchange, details)
  // A page instead of a redirect, because the redirects after a form must stay on this site.
  send(response, 200, onwardPage({ language, application: applicationOf(needs, details), onward: to }), needs.headers)
}

function redirect(response: ServerResponse, location: string): void {
  response.writeHead(303, { location }).end()
}

function send(response: ServerResponse, status: number, page: string, headers: Readonly<Record<string, string>>): void {
  response.writeHead(status, { ...headers, 'content-type': 'text/html; charset=utf-8' }).end(page)
}

/** The application as its settings name it to people. */
function applicationOf({ settings }: Needs, { params }: Details): string {
  const id = String(params.client_id)
  return settings.clients.find((client) => client.id === id)?.name ?? id
}
