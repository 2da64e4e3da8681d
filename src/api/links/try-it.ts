import { z } from 'zod'
import { LANGUAGES, LanguageWish } from '../../domain/typing-words.js'
import type { LanguageHints } from '../../flows/organization/suggested-words.js'
import type { TryFlows } from '../../flows/profile/try-it.js'
import { checked } from '../../http/intake/json-body.js'
import type { PlainAnswer, PlainEndpoint } from '../../http/server-types.js'
import { pageHeaders } from '../../web/page.js'
import { tryOnComputer, tryPage } from '../../web/try-page.js'
import { PATTERN_BYTES_MAX } from '../core/core-route.js'
import { refuseCrossSite } from './link-route.js'
import { languageOf, type RefusesDevice } from './pages.js'

/**
 * `/auth/try` and its endpoints. They are not part of the interface, and are served with embedded stores only, because they create
 * people without an API key. The header `X-Try-Key` identifies the person.
 */
export function tryEndpoints(flows: TryFlows, linksUrl: string, refusesDevice: RefusesDevice): PlainEndpoint[] {
  const headers = pageHeaders(linksUrl)
  const pages = new Map(LANGUAGES.map((language) => [language, tryPage(language)]))
  const post = (
    name: string,
    act: (key: string, body: Uint8Array, hints: LanguageHints) => Promise<object>,
  ): PlainEndpoint => ({
    method: 'post',
    path: `/auth/try/${name}`,
    maxBytes: PATTERN_BYTES_MAX,
    lane: 'page',
    async handle(request) {
      refuseCrossSite(request.header, linksUrl)
      checked(Query, request.query, 'query')
      const hints = { language: languageOf(request), acceptLanguage: null }
      return json(await act(request.header('x-try-key') ?? '', request.body, hints))
    },
  })
  return [
    {
      method: 'get',
      path: '/auth/try',
      page: true,
      handle(request) {
        const language = languageOf(request)
        return {
          status: 200,
          contentType: 'text/html; charset=utf-8',
          body: refusesDevice(request.header) ? tryOnComputer(language) : (pages.get(language) ?? ''),
          headers: { ...headers, 'content-language': language },
        }
      },
    },
    post('begin', async (_key, _body, hints) => flat(await flows.begin(hints))),
    post('typing-patterns', async (key, body, hints) => flat(await flows.enroll(key, body, hints))),
    post('words', async (key, _body, hints) => flat(await flows.words(key, hints))),
    post('verify', async (key, body, hints) => flat(await flows.verify(key, body, hints))),
    post('forget', async (key) => {
      await flows.forget(key)
      return {}
    }),
  ]
}

const Query = z.object({ language: LanguageWish.optional() })

const flat = ({ words, ...rest }: { readonly words: object }): object => ({ ...rest, ...words })

const json = (payload: object): PlainAnswer => ({
  status: 200,
  contentType: 'application/json; charset=utf-8',
  body: JSON.stringify({ success: true, message: 'Done', ...payload }),
})
