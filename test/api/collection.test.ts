import { Collection, type Item, type ItemGroup, type Request } from 'postman-collection'
import { describe, expect, it } from 'vitest'
import { coreRoutes } from '../../src/api/core-table.js'
import { dashboardRoutes } from '../../src/api/dashboard-table.js'
import { linkRoutes } from '../../src/api/links-table.js'
import { sharedService } from '../harness/service.js'

const ROUTES = { core: coreRoutes, auth: linkRoutes, dashboard: dashboardRoutes }
type ApiName = keyof typeof ROUTES
const APIS = Object.keys(ROUTES) as ApiName[]
const service = await sharedService()

describe('the collections for Postman, Bruno and Insomnia', () => {
  async function requestsOf(api: ApiName): Promise<{ collection: Collection; items: Item[] }> {
    const served = await fetch(service.core.replace(/core$/, `${api}/collection.json`))
    const collection = new Collection((await served.json()) as object)
    const items: Item[] = []
    collection.forEachItem((item) => items.push(item))
    return { collection, items }
  }

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

  it.each(APIS)('has every route, in groups: %s', async (api) => {
    const { collection, items } = await requestsOf(api)
    expect(items).toHaveLength(ROUTES[api].length)
    const groups = collection.items.all() as ItemGroup<Item>[]
    expect(groups.filter(({ name }) => name === '')).toEqual([])
    expect(collection.variables.get('baseUrl')).toMatch(new RegExp(`/${api}$`))
  })

  it.each(APIS)('every request reaches its route and is understood: %s', async (api) => {
    const { collection, items } = await requestsOf(api)
    const base = { baseUrl: service.core.replace(/core$/, api), apikey: service.apikey }
    await service.call('POST', '/users/ann')
    const odd: string[] = []
    for (const { name, request } of items) {
      const { session } = await service.bootstrap('ann')
      const answer = await send(request, { ...base, session })
      const text = await answer.text()
      // A sample may name nothing that exists, and a sample body may break a rule; path, method and JSON are right.
      const misread =
        [405, 415].includes(answer.status) || answer.status >= 500 || /no such path|not valid JSON/.test(text)
      if (misread) odd.push(`${name}: ${answer.status} ${text.slice(0, 200)}`)
    }
    expect(odd).toEqual([])
    expect(JSON.stringify(collection)).not.toContain(service.apikey)
  })

  it('a bootstrap keeps the session for the later calls', async () => {
    const { items } = await requestsOf('core')
    const bootstrap = items.find(({ name }) => name.startsWith('Begin a sign-in'))
    expect(JSON.stringify(bootstrap?.events)).toContain("pm.collectionVariables.set('session', session)")
    const verify = items.find(({ name }) => name.startsWith('Verify a user'))
    expect(verify?.request.headers.get('X-Service-Session')).toBe('{{session}}')
  })
})
