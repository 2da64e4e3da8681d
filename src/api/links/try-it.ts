import type { TryFlows } from '../../flows/try-it.js'
import type { PlainAnswer, PlainEndpoint, PlainRequest } from '../../http/needs.js'
import { pageHeaders } from '../../web/page.js'
import { tryPage } from '../../web/try-page.js'
import { PATTERN_BYTES_MAX } from '../core/core-route.js'
import { refuseCrossSite } from './link-route.js'

/**
 * `/auth/try` and what it asks for. Not part of the interface, and there on the embedded default alone: it makes people
 * without an API key. The header `X-Try-Key` says who.
 */
export function tryEndpoints(flows: TryFlows, linksUrl: string): PlainEndpoint[] {
  const headers = pageHeaders(linksUrl)
  const page = tryPage()
  const post = (name: string, act: (key: string, request: PlainRequest) => Promise<object>): PlainEndpoint => ({
    method: 'post',
    path: `/auth/try/${name}`,
    maxBytes: PATTERN_BYTES_MAX,
    lane: 'page',
    async handle(request) {
      refuseCrossSite(request.header, linksUrl)
      return json(await act(request.header('x-try-key') ?? '', request))
    },
  })
  return [
    {
      method: 'get',
      path: '/auth/try',
      handle: () => ({ status: 200, contentType: 'text/html; charset=utf-8', body: page, headers }),
    },
    post('begin', async () => flat(await flows.begin())),
    post('typing-patterns', async (key, { body }) => flat(await flows.enroll(key, body))),
    post('verify', async (key, { body }) => flat(await flows.verify(key, body))),
    post('forget', async (key) => {
      await flows.forget(key)
      return {}
    }),
  ]
}

const flat = ({ words, ...rest }: { readonly words: object }): object => ({ ...rest, ...words })

const json = (payload: object): PlainAnswer => ({
  status: 200,
  contentType: 'application/json; charset=utf-8',
  body: JSON.stringify({ success: true, message: 'Done', ...payload }),
})
