import { Collection, type Item, type ItemGroup, type Request } from 'postman-collection'
import { describe, expect, it } from 'vitest'
import { coreRoutes } from '../../src/api/core-table.js'
import { dashboardRoutes } from '../../src/api/dashboard-table.js'
import { linkRoutes } from '../../src/api/links-table.js'
import { sharedService } from '../harness/service.js'

const ROUTES = { core: coreRoutes, auth: linkRoutes, dashboard: dashboardRoutes }
const service = await sharedService()
const baseUrl = service.core.replace(/\/core$/, '')

describe('the collection for Postman, Bruno and Insomnia', async () => {
  const served = await fetch(`${baseUrl}/collection.json`)
  const collection = new Collection((await served.json()) as object)
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
    const folders = collection.items.all() as ItemGroup<ItemGroup<Item>>[]
    const groups = folders.map((folder) => folder.items.all() as ItemGroup<Item>[])
    const counts = groups.map((list) => list.reduce((sum, group) => sum + group.items.count(), 0))
    expect(counts).toEqual(Object.values(ROUTES).map(({ length }) => length))
    expect(groups.flat().filter(({ name }) => name === '')).toEqual([])
    const paths = folders.map((folder) => new Set((folder.items.all()[0] as ItemGroup<Item>).items.map(({ request }) => request.url.path?.[0])))
    expect(paths).toEqual(Object.keys(ROUTES).map((api) => new Set([api])))
  })

  it('sends requests that reach their route and are understood', async () => {
    const values = { baseUrl, apikey: service.apikey }
    await service.call('POST', '/users/ann')
    const odd: string[] = []
    for (const { name, request } of items) {
      const { session } = await service.bootstrap('ann')
      const answer = await send(request, { ...values, session })
      const text = await answer.text()
      // A sample may name nothing that exists, and a sample body may break a rule; path, method and JSON are right.
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
