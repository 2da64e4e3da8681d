import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { consoleEndpoints } from '../api/dashboard/console.js'
import { fileEndpoints, linkPageEndpoint, type RefusesDevice } from '../api/links/pages.js'
import { tryEndpoints } from '../api/links/try-it.js'
import { DEMO_ORGANIZATION } from '../domain/organization.js'
import { LANGUAGES, type Language } from '../domain/typing-words.js'
import { newToken } from '../flows/process/tokens.js'
import { createTryIt } from '../flows/profile/try-it.js'
import { collectionEndpoint } from '../http/docs/collection.js'
import { documentEndpoints } from '../http/docs/docs-page.js'
import type { RecordedAnswers } from '../http/docs/recorded-answers.js'
import { replyJson } from '../http/envelope.js'
import type { Api, PlainEndpoint, Probe, ServerNeeds } from '../http/server-types.js'
import type { Config } from '../process/config.js'
import { version } from '../process/version.js'
import { packageRoot } from '../scoring/artifacts.js'
import { isTouchScreen } from '../scoring/touch-screens.js'
import { traceOf } from '../scoring/trace.js'
import { deviceKind } from '../scoring/user-agent.js'
import { guidePage, type PageLink, strayPage } from '../web/guide-page.js'
import { pageHeaders } from '../web/page.js'
import { openedOnce, type Services } from './services.js'
import type { Stores } from './stores.js'

const DOCS = { core: 'Core API', links: 'Profile links', dashboard: 'Dashboard' } as const
const BASES = { core: 'core', links: 'auth', dashboard: 'dashboard' } as const

const servedApis = (config: Config) =>
  (['core', 'links', 'dashboard'] as const).filter((api) => config.roles.includes(api))

const pageLinks = (config: Config, { embedded }: Stores): PageLink[] => [
  ...servedApis(config).map((api): PageLink => [`${BASES[api]}/docs`, DOCS[api]]),
  ...(config.roles.includes('dashboard') ? [['console/', 'Console'] as const] : []),
  ...(embedded ? [['auth/try', 'Try it on yourself'] as const] : []),
]

/** The page for a browser at an API's address or an unknown one. */
export function browserPage(config: Config, stores: Stores): NonNullable<ServerNeeds<Services>['browserPage']> {
  const links: PageLink[] = [['', 'Start'], ...pageLinks(config, stores)]
  const root = `${new URL(config.publicUrl).pathname.replace(/\/+$/, '')}/`
  const headers = pageHeaders(config.publicUrl)
  const page = (status: 400 | 401 | 404) => strayPage(status, root, links)
  const pages = { 400: page(400), 401: page(401), 404: page(404) }
  return (status) => ({ contentType: 'text/html; charset=utf-8', body: pages[status], headers })
}

/** `/`: the guide for a browser, the addresses of the APIs for other clients. */
function home(config: Config, stores: Stores, degraded: () => string | null): PlainEndpoint {
  const { publicUrl } = config
  const page = { guide: built('web/guide.html'), publicUrl, links: pageLinks(config, stores) }
  const addresses = Object.fromEntries(servedApis(config).map((api) => [api, `${publicUrl}/${BASES[api]}`]))
  return {
    method: 'get',
    path: '/',
    page: true,
    handle: ({ header }) =>
      header('accept')?.includes('text/html') === true
        ? {
            status: 200,
            contentType: 'text/html; charset=utf-8',
            body: guidePage({ ...page, degraded: degraded() }),
            headers: pageHeaders(publicUrl),
          }
        : {
            status: 200,
            contentType: 'application/json; charset=utf-8',
            body: replyJson({ status: 200, payload: addresses }, Date.now()),
          },
  }
}

/** The hosted pages and their files. The page to try the product exists only with the embedded database. */
export function pages(config: Config, services: Services, stores: Stores): PlainEndpoint[] {
  const refusesDevice = refusesTouchScreens(config)
  const own = [
    home(config, stores, services.degraded),
    linkPageEndpoint(services, refusesDevice),
    ...fileEndpoints(browserModules()),
  ]
  if (!stores.embedded) return own
  const scorer = openedOnce()
  let demo: Promise<string | null> | null = null
  const tryIt = createTryIt({
    ...services,
    profiles: stores.profiles,
    vault: stores.vault,
    newToken,
    explain: (probe, references) => traceOf(scorer(), { probe, references }).explanation,
    async demoOrganizationId() {
      demo ??= stores.organizations.list().then((all) => all.find(({ name }) => name === DEMO_ORGANIZATION)?.id ?? null)
      const id = await demo
      if (id === null) demo = null
      return id
    },
  })
  return [...own, ...tryEndpoints(tryIt, services.linksUrl, refusesDevice)]
}

/** Decides as `withoutTouchScreens`, before anything is typed: a pattern's `d` has the user agent and the hints of the browser. */
function refusesTouchScreens({ touchScreens }: Config): RefusesDevice {
  if (touchScreens === 'accept') return () => false
  return (header) => isTouchScreen(deviceKind(header('user-agent') ?? '', header('sec-ch-ua-mobile') === '?1'))
}

/** The operators' console. Without the role `links` there is no guide at `/`, so `/` leads to the console. */
export function consolePages({ publicUrl, roles }: Config): PlainEndpoint[] {
  const files = {
    scripts: Object.fromEntries(
      LANGUAGES.map((language) => [language, built(`console/console.${language}.js`)]),
    ) as Record<Language, string>,
    style: built('console/console.css'),
    licences: built('console/licenses.txt'),
  }
  const lead: PlainEndpoint = {
    method: 'get',
    path: '/',
    page: true,
    handle: () => ({
      status: 302,
      contentType: 'text/plain; charset=utf-8',
      body: '',
      headers: { location: 'console/' },
    }),
  }
  return [...consoleEndpoints(publicUrl, files), ...(roles.includes('links') ? [] : [lead])]
}

/** A file of the build that pages load. */
const built = (path: string) => readFileSync(join(packageRoot(), 'build', path), 'utf8')

const browserModules = (): Record<`${string}.js`, string> => ({
  'element.js': built('web/element.js'),
  // The element loads the texts of a language on demand; English is part of it.
  ...Object.fromEntries(
    LANGUAGES.filter((one) => one !== 'en').map((one) => [`texts/${one}.js`, built(`web/texts/${one}.js`)]),
  ),
  'typing.js': built('web/typing.js'),
  'link.js': built('web/link.js'),
  'try.js': built('web/try.js'),
})

/** The answers that documents show; `test/api/recorded-answers.test.ts` writes them. */
export const recordedFile = (): string => join(packageRoot(), 'src', 'api', 'recorded-answers.json')
export const recordedAnswers = () => JSON.parse(readFileSync(recordedFile(), 'utf8')) as RecordedAnswers // our own file

/** The documents of the APIs and their files. */
export function documents(apis: readonly Api<Services>[], config: Config, stores: Stores): PlainEndpoint[] {
  const { publicUrl } = config
  const about = {
    version: version(),
    baseUrl: publicUrl,
    recorded: recordedAnswers(),
    pages: [['', 'Start'] as const, ...pageLinks(config, stores)],
  }
  const script = built('web/docs.js')
  return [
    ...(apis.length === 0 ? [] : [collectionEndpoint(apis, about)]),
    ...apis.flatMap((api) => documentEndpoints(api, { ...about, baseUrl: `${publicUrl}${api.basePath}` }, script)),
  ]
}

/**
 * `/livez`, `/readyz` and `/metrics`, for load balancers and monitors. `unready` returns the reason not to send new requests
 * here, or null.
 */
export function probes(
  unready: () => Probed<string | null>,
  metricsText: () => Promise<string>,
  partly: () => string | null = () => null,
): Probe[] {
  const text = (status: number, body: string) => ({ status, contentType: 'text/plain; charset=utf-8', body })
  return [
    { method: 'get', path: '/livez', probe: true, handle: () => text(200, 'live\n') },
    {
      method: 'get',
      path: '/readyz',
      probe: true,
      async handle() {
        const why = await unready()
        if (why !== null) return text(503, `${why}\n`)
        const missing = partly()
        return text(200, missing === null ? 'ready\n' : `ready, but ${missing}\n`)
      },
    },
    {
      method: 'get',
      path: '/metrics',
      probe: true,
      handle: async () => ({
        status: 200,
        contentType: 'text/plain; version=0.0.4; charset=utf-8',
        body: await metricsText(),
      }),
    },
  ]
}

type Probed<T> = T | Promise<T>
