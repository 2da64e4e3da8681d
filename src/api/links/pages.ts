import { Refusal } from '../../domain/refusal.js'
import { type Language, wordsLanguage } from '../../domain/typing-words.js'
import { fileEndpoint } from '../../http/file-endpoint.js'
import type { PlainAnswer, PlainEndpoint, PlainRequest } from '../../http/server-types.js'
import { gonePage, linkPage, unavailablePage } from '../../web/link-page.js'
import { iconSvg, pageHeaders } from '../../web/page.js'
import { pageStyle } from '../../web/page-style.js'
import type { LinkServices } from './link-route.js'

/** Whether patterns of a device are refused, by the headers of a request. */
export type RefusesDevice = (header: PlainRequest['header']) => boolean

/** `/auth/b/{key}`, the page of a profile link. Opening it changes nothing, so a mail scanner does no harm. */
export function linkPageEndpoint(services: LinkServices, refusesDevice: RefusesDevice): PlainEndpoint {
  const headers = pageHeaders(services.linksUrl)
  const page = (status: number, language: Language, body: string, more: Record<string, string> = {}): PlainAnswer => ({
    status,
    contentType: 'text/html; charset=utf-8',
    body,
    headers: { ...headers, 'content-language': language, ...more },
  })
  const unavailable = (request: PlainRequest) => {
    const language = languageOf(request)
    return page(503, language, unavailablePage(language), { 'retry-after': '2' })
  }
  return {
    method: 'get',
    path: '/auth/b/{key}',
    page: true,
    lane: 'page',
    whenOverloaded: unavailable,
    async handle(request) {
      if (services.degraded() !== null) return unavailable(request)
      try {
        const hints = { language: request.query.language ?? null, acceptLanguage: acceptLanguage(request) }
        const view = await services.linkPage.open(request.params.key ?? '', hints)
        const deviceRefused = refusesDevice(request.header)
        return page(200, view.words.suggestedWordsLanguage, linkPage({ ...view, deviceRefused }))
      } catch (error) {
        const kind = error instanceof Refusal ? error.kind : null
        if (kind === 'link-unknown' || kind === 'profile-locked') {
          const language = languageOf(request)
          return page(404, language, gonePage(language))
        }
        if (kind === 'degraded') return unavailable(request)
        throw error
      }
    },
  }
}

const acceptLanguage = ({ header }: PlainRequest): string | null => header('accept-language') ?? null

/** The language of a page that reveals no organization. */
export const languageOf = (request: PlainRequest): Language =>
  wordsLanguage({
    preferred: null,
    asked: request.query.language ?? null,
    acceptLanguage: acceptLanguage(request),
    mode: 'auto',
    organizationDefault: 'en',
  })

const TYPES = { js: 'text/javascript; charset=utf-8', css: 'text/css; charset=utf-8', svg: 'image/svg+xml' } as const
type FileName = `${string}.${keyof typeof TYPES}`

/** Files that the pages load; `modules` by file name. */
export function fileEndpoints(modules: Readonly<Record<`${string}.js`, string>>): PlainEndpoint[] {
  const files: [string, string][] = [
    ...Object.entries(modules),
    ['page.css', pageStyle],
    ['icon.svg', iconSvg('#2a9d8f')],
  ]
  return files.map(([name, body]) => {
    const [, extension] = (name as FileName).split('.') // Sound: every name has one of these extensions.
    return fileEndpoint(`/auth/${name}`, TYPES[extension as keyof typeof TYPES], body)
  })
}
