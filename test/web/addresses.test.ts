import { beforeAll, describe, expect, it } from 'vitest'
import { linkAddress } from '../harness/pages.js'
import { sharedService, type TestService } from '../harness/service.js'

/** Texts that mail programs, chats, trackers and people add to an address. */
const ADDED = ['?utm_source=a&utm_source=b', '?q=1%', '?q=%ff&&=&x', '?%zz=1', '/', '/?utm_source=a&utm_source=b&q=1%']

describe('the address of a page', () => {
  let service: TestService
  let pages: string[]
  const asPerson = (address: string, init: RequestInit = {}) =>
    fetch(address, { ...init, headers: { accept: 'text/html', 'accept-language': 'en' } })
  beforeAll(async () => {
    service = await sharedService()
    const { key } = (await service.callLinks('POST', '/api/links/create-profile/addressed')).json
    const home = service.core.replace('/core', '')
    pages = [linkAddress(service, key), linkAddress(service, 'unknown')].concat(
      ['', '/core/docs', '/auth/docs', '/dashboard/docs', '/console', '/console/users', '/console/users/a%20b'].map(
        (path) => home + path,
      ),
    )
  })

  it('leads to the page with whatever query or slash is added to it', async () => {
    for (const page of pages) {
      const plain = await asPerson(page)
      const title = /<title>.*<\/title>/.exec(await plain.text())?.[0]
      expect([page, title]).toEqual([page, expect.stringMatching(/./)])
      for (const added of ADDED) {
        const answer = await asPerson(page + added)
        expect([page + added, answer.status]).toEqual([page + added, plain.status])
        expect(await answer.text()).toContain(title)
      }
    }
  })

  it('keeps the language that it names, the first of several', async () => {
    const [page = ''] = pages
    for (const added of ['?q=1%&language=de&language=fr', '/?language=de&q=1%']) {
      const answer = await asPerson(page + added)
      expect([added, answer.headers.get('content-language')]).toEqual([added, 'de'])
    }
  })

  it('leads on from a slash at its end relative to itself, since a proxy may add a path before it', async () => {
    const { status, headers } = await asPerson(`${pages[0]}/?language=de&a=b%20c`, { redirect: 'manual' })
    expect([status, headers.get('location')]).toEqual([308, `../${pages[0]?.split('/').at(-1)}?a=b%20c&language=de`])
    const named = await asPerson(`${pages.at(-1)}/`, { redirect: 'manual' })
    expect(named.headers.get('location')).toBe('../a%20b')
  })

  it('says in words that it is damaged; a program gets JSON, and an API keeps its strict query', async () => {
    const damaged = `${linkAddress(service, 'key')}%`
    const page = await asPerson(damaged)
    expect([page.status, page.headers.get('content-type')]).toEqual([400, 'text/html; charset=utf-8'])
    expect(await page.text()).toContain('<h1>This address is damaged</h1>')
    const json = await fetch(damaged)
    expect([json.status, await json.json()]).toEqual([400, expect.objectContaining({ reason: 'invalid-data' })])
    const { status } = await service.call('GET', '/users/ann?language=de&language=en')
    expect(status).toBe(400)
  })
})
