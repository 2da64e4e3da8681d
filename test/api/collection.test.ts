import { Collection, type Item, type Request } from 'postman-collection'
import { describe, expect, it } from 'vitest'
import { coreRoutes } from '../../src/api/core-table.js'
import { dashboardRoutes } from '../../src/api/dashboard-table.js'
import { linkRoutes } from '../../src/api/links-table.js'
import { sharedService } from '../harness/service.js'

const ROUTES = { core: coreRoutes, auth: linkRoutes, dashboard: dashboardRoutes }
const service = await sharedService()
const baseUrl = service.core.replace(/\/core$/, '')

describe('the collection for Postman, Bruno and Insomnia', async () => {
  /** An item of an API has groups, and an item of a group has requests. */
  interface Folder {
    readonly name: string
    readonly item: readonly {
      readonly name: string
      readonly item: readonly { readonly request: { readonly url: { readonly path: readonly string[] } } }[]
    }[]
  }
  const json = (await (await fetch(`${baseUrl}/collection.json`)).json()) as { readonly item: readonly Folder[] }
  const collection = new Collection(json as object)
  const items: Item[] = []
  collection.forEachItem((item) => items.push(item))

  /** Sends a request as an API client does, with the values of the collection's variables. */
  function send({ method, url, headers, body }: Request, values: Record<string, string>) {
    const filled = (text: string) => text.replace(/\{\{(\w+)\}\}/g, (_, name: string) => values[name] ?? '')
    const sent = headers.all().filter(({ disabled }) => disabled !== true)
    return fetch(filled(url.toString()), {
      method,
      headers: {
        apikey: values.apikey ?? '',
        ...Object.fromEntries(sent.map(({ key, value }) => [key, filled(value)])),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      body: body === undefined ? null : filled(body.toString()),
    })
  }

  it('has every route of each API, in groups', () => {
    const requests = json.item.map((folder) => folder.item.flatMap(({ item }) => item))
    const counts = requests.map((list) => [...new Set(list.map(({ request }) => request.url.path[0])), list.length])
    expect(counts).toEqual(Object.entries(ROUTES).map(([api, { length }]) => [api, length]))
    expect(json.item.flatMap(({ item }) => item).filter(({ name }) => name === '')).toEqual([])
  })

  it('sends requests that reach their route and are understood', async () => {
    const values = { baseUrl, apikey: service.apikey }
    await service.call('POST', '/users/ann')
    const odd: string[] = []
    for (const { name, request } of items) {
      const { session } = await service.bootstrap('ann')
      const answer = await send(request, { ...values, session })
      const text = await answer.text()
      // A sample may name an object that does not exist, and its body may break a rule. Path, method and JSON are valid.
      const misread =
        [405, 415].includes(answer.status) || answer.status >= 500 || /no such path|not valid JSON/.test(text)
      if (misread) odd.push(`${name}: ${answer.status} ${text.slice(0, 200)}`)
    }
    expect(odd).toEqual([])
    expect(JSON.stringify(collection)).not.toContain(service.apikey)
  })

  it('keeps the session of a bootstrap for the later calls', () => {
    const bootstrap = items.find(({ name }) => name.startsWith('Begin a sign-in'))
    expect(JSON.stringify(bootstrap?.events)).toContain("pm.collectionVariables.set('session', session)")
    const verify = items.find(({ name }) => name.startsWith('Verify a user'))
    expect(verify?.request.headers.get('X-Service-Session')).toBe('{{session}}')
  })
})
