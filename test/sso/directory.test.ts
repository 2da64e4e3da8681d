import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fileDirectory } from '../../src/sso/directory/file.js'
import { ldapDirectory } from '../../src/sso/directory/ldap.js'
import { personOf } from '../../src/sso/directory/person-of.js'
import { freePort } from '../../src/storage/postgres/embedded/embedded-running.js'
import { person } from '../../src/typist/made-up-person.js'
import { BASE, hasSlapd, READER, startSlapd } from '../servers/slapd.js'
import {
  ask,
  type Bridge,
  beginSignIn,
  CLIENT_SECRET,
  latestPassword,
  openWorld,
  relyingParty,
  signInByTyping,
  someone,
  startBridge,
  tokensOf,
  Visitor,
  type World,
} from './bridge.js'

describe('a person of a directory', () => {
  const entry = { userRef: 'Ann Lee', email: 'ann@example.org', displayName: 'Ann', language: 'fr' }

  it('has a normalized reference', () => {
    expect(personOf(entry)).toEqual({ ...entry, userRef: 'ann-lee' })
  })

  it.each([
    ['no address', undefined],
    ['two addresses', 'a@example.org,b@example.org'],
    ['an address that ends a header', 'a@example.org\r\nBcc: all@example.org'],
    ['an address without domain', 'ann@'],
    ['no text', 7],
  ])('has no e-mail address where the directory has %s', (_, email) => {
    expect(personOf({ ...entry, email })?.email).toBeNull()
  })

  it.each([['ann\u0000'], ['äöü'], [''], [undefined], ['-x'], [['ann']]])(
    'does not exist under the reference %j',
    (userRef) => {
      expect(personOf({ ...entry, userRef })).toBeNull()
    },
  )
})

describe('a file as directory', () => {
  const folder = mkdtempSync(join(tmpdir(), 'keystride-people-'))
  const path = join(folder, 'people.json')
  afterAll(() => rmSync(folder, { recursive: true }))
  let clock = 1_700_000_000
  const write = (people: unknown) => {
    writeFileSync(path, typeof people === 'string' ? people : JSON.stringify(people))
    clock += 10
    utimesSync(path, clock, clock)
  }

  it('finds people by name without regard to case, and reads the file again when it changes', async () => {
    write([{ name: 'Ann@Example.org', userRef: 'ann' }])
    const lines: string[] = []
    const directory = await fileDirectory(path, (line) => lines.push(line))
    expect((await directory.find('ann@example.ORG'))?.userRef).toBe('ann')
    expect(await directory.find('ann')).toBeNull()
    write([{ name: 'ben' }])
    expect((await directory.find('ben'))?.userRef).toBe('ben')
    expect(await directory.find('ann@example.org')).toBeNull()
    write('[{')
    expect((await directory.find('ben'))?.userRef).toBe('ben')
    expect(lines).toEqual([expect.stringContaining('is not JSON')])
  })

  it.each([
    ['is not JSON', '{'],
    ['is not valid: [0].name: is required', [{ email: 'a@b.org' }]],
    ['is not valid: [0]: has unknown fields: mail', [{ name: 'a', mail: 'a@b.org' }]],
    ['names "A" twice', [{ name: 'a' }, { name: 'A' }]],
    ['whose userRef is not valid', [{ name: 'ä' }]],
  ])('is refused at the start if it %s', async (why, people) => {
    write(people)
    await expect(fileDirectory(path, () => {})).rejects.toThrow(why)
  })
})

describe.skipIf(!hasSlapd)('an LDAP server as directory', { timeout: 60_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'keystride-ldap-'))
  let slapd: Awaited<ReturnType<typeof startSlapd>>
  let settings: Parameters<typeof ldapDirectory>[0]
  beforeAll(async () => {
    slapd = await startSlapd([
      { uid: 'ann', cn: 'Ann Lee', mail: 'ann@example.org' },
      { uid: 'ben' },
      { uid: 'twin', cn: 'One' },
      { uid: 'twin', cn: 'Other' },
      { uid: 'a*' },
    ])
    writeFileSync(join(folder, 'password'), `${READER.password}\n`)
    settings = {
      kind: 'ldap',
      url: slapd.url,
      starttls: false,
      bindDn: READER.dn,
      bindPasswordFile: join(folder, 'password'),
      base: BASE,
      filter: '(uid={name})',
      attributes: { userRef: 'uid', email: 'mail', displayName: 'cn', language: 'preferredLanguage' },
    }
  })
  afterAll(async () => {
    await slapd.close()
    rmSync(folder, { recursive: true })
  })

  it('finds a person with name and address', async () => {
    expect(await ldapDirectory(settings).find('ann')).toEqual({
      userRef: 'ann',
      email: 'ann@example.org',
      displayName: 'Ann Lee',
      language: null,
    })
  })

  it('has no person where none or several match', async () => {
    const directory = ldapDirectory(settings)
    expect(await directory.find('nobody')).toBeNull()
    expect(await directory.find('twin')).toBeNull()
  })

  it.each(['*', 'an*', '*)(uid=ann', 'ann)(cn=*', 'a\\2a', 'ann\u0000', '\\', '(', 'ä', '🙂'])(
    'takes %j as a name, not as part of the filter',
    async (name) => {
      expect(await ldapDirectory(settings).find(name)).toBeNull()
    },
  )

  it('cannot be read without the right password, or when it is away', async () => {
    writeFileSync(join(folder, 'wrong'), 'wrong')
    await expect(ldapDirectory({ ...settings, bindPasswordFile: join(folder, 'wrong') }).find('ann')).rejects.toThrow()
    await expect(ldapDirectory({ ...settings, url: 'ldap://127.0.0.1:9' }).find('ann')).rejects.toThrow()
  })
})

describe('directories of a bridge', { timeout: 60_000 }, () => {
  let world: World
  let bridge: Bridge
  beforeAll(async () => {
    world = await openWorld()
  })
  afterAll(async () => world.close())

  it('101 while the directory is away, and the person may try again', async () => {
    const directory = { kind: 'ldap', url: 'ldap://127.0.0.1:9', base: BASE }
    bridge = await startBridge(world.service, world.mail.port, { directory })
    const { visitor } = await beginSignIn(bridge, 'ann')
    expect([visitor.title(), visitor.code(), bridge.codes]).toEqual(['One moment, please', 101, [101]])
    await visitor.submit({ action: 'cancel' })
    expect(new URL(visitor.at).searchParams.get('error')).toBe('temporarily_unavailable')
    await bridge.close()
  })

  it('asks another provider for the first factor, and takes the person from its userinfo', async () => {
    const people = [someone('uma')]
    const port = await freePort()
    const callback = `http://localhost:${port}/upstream`
    const clients = [{ id: 'bridge', secret: CLIENT_SECRET, redirectUris: [callback] }]
    const first = await startBridge(world.service, world.mail.port, { people, settings: { clients } })
    const folder = mkdtempSync(join(tmpdir(), 'keystride-upstream-'))
    writeFileSync(join(folder, 'secret'), CLIENT_SECRET)
    const directory = {
      kind: 'userinfo',
      issuer: first.issuer,
      clientId: 'bridge',
      clientSecretFile: join(folder, 'secret'),
    }
    const second = await startBridge(world.service, world.mail.port, { directory, port })
    try {
      const party = await relyingParty(first.issuer, 'bridge')
      const { visitor: enrolling } = await beginAt(party, callback)
      const who = person(71)
      await enrolling.submit({ action: 'send', purpose: 'enroll' })
      await enrolling.submit({ action: 'password', password: latestPassword(world, 'uma@example.org') })
      for (let n = 0; n < 12 && / target="/.test(enrolling.page); n++) await enrolling.types(who)
      const begun = await beginSignIn(second, 'uma')
      // Typed for the provider of the first factor, then for the bridge.
      expect(begun.visitor.at).toContain(first.issuer)
      expect((await tokensOf(await signInByTyping(second, 'uma', who, {}, begun))).claims()?.sub).toBe('uma')
      // An answer of another sign-in is refused.
      const other = await beginSignIn(second, 'uma')
      const { visitor } = await beginSignIn(second, 'uma')
      const state = new URL(other.visitor.at).pathname.split('/').pop()
      await visitor.open(`${callback}?code=x&state=${state}.y`)
      expect(visitor.status).toBe(404)
    } finally {
      await first.close()
      await second.close()
      rmSync(folder, { recursive: true })
    }
  })
})

describe('another provider as directory, while it is away', { timeout: 60_000 }, () => {
  it('is 101, and the person goes on when it is back', async () => {
    const world = await openWorld()
    const folder = mkdtempSync(join(tmpdir(), 'keystride-upstream-'))
    writeFileSync(join(folder, 'secret'), CLIENT_SECRET)
    const [port, upstreamPort] = [await freePort(), await freePort()]
    const issuer = `http://localhost:${upstreamPort}`
    const directory = { kind: 'userinfo', issuer, clientId: 'bridge', clientSecretFile: join(folder, 'secret') }
    const bridge = await startBridge(world.service, world.mail.port, { directory, port })
    const { visitor } = await beginSignIn(bridge, 'uma')
    expect([visitor.title(), visitor.code(), bridge.codes]).toEqual(['One moment, please', 101, [101]])
    await visitor.submit({ action: 'begin' })
    expect([visitor.code(), bridge.codes]).toEqual([101, [101, 101]])
    const clients = [{ id: 'bridge', secret: CLIENT_SECRET, redirectUris: [`http://localhost:${port}/upstream`] }]
    const upstream = await startBridge(world.service, world.mail.port, {
      people: [someone('uma')],
      port: upstreamPort,
      settings: { clients },
    })
    await visitor.submit({ action: 'begin' })
    expect(visitor.at).toContain(issuer)
    await upstream.close()
    await bridge.close()
    await world.close()
    rmSync(folder, { recursive: true })
  })
})

async function beginAt(party: Awaited<ReturnType<typeof relyingParty>>, callback: string) {
  const { url } = await ask(party, { login_hint: 'uma', redirect_uri: callback })
  const visitor = new Visitor()
  await visitor.open(url.href)
  return { visitor }
}
