import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { USER_REF_RULE } from '../../src/domain/user-ref.js'
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
  enroll,
  openWorld,
  relyingParty,
  signInByTyping,
  someone,
  startBridge,
  tokensOf,
  Visitor,
  type World,
} from './bridge.js'

const silent = () => {}

describe('a person of a directory', () => {
  const entry = { userRef: 'Ann Lee', email: 'ann@example.org', displayName: 'Ann', language: 'fr' }

  it('has a normalized reference, and does not exist without a valid one', () => {
    expect(personOf(entry)).toEqual({ ...entry, userRef: 'ann-lee' })
    for (const userRef of ['ann\u0000', 'äöü', '', undefined, '-x', ['ann']])
      expect(personOf({ ...entry, userRef }), JSON.stringify(userRef)).toBeNull()
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
    for (const name of ['ann@example.ORG', '\u200eann\u200b@example.org\ufeff'])
      expect((await directory.find(name))?.userRef).toBe('ann')
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
    ['is not a JSON array of people', { name: 'ann' }],
    ['has no entry that can be used: [0] "ä" is left out', [{ name: 'ä' }]],
  ])('is refused at the start if it %s', async (why, people) => {
    write(people)
    await expect(fileDirectory(path, () => {})).rejects.toThrow(why)
  })

  it.each([
    [[{ name: "o'x@example.org" }], `[1] "o'x@example.org" is left out: userRef ${USER_REF_RULE}`],
    [[{ email: 'a@b.org' }], '[1] is left out: name: is required'],
    [[null], '[1] is left out: the entry: must be an object'],
    [['ben'], '[1] is left out: the entry: must be an object'],
    [[{ name: 'ben', mail: 'a@b.org' }], '[1] "ben" is left out: the entry: has unknown fields: mail'],
    [[{ name: 'ben' }, { name: 'BEN' }], '[1] "ben" and [2] "BEN" are left out: they have the same name'],
    [
      [
        { name: 'be\u0301n', userRef: 'x' },
        { name: 'bén', userRef: 'y' },
      ],
      'are left out: they have the same name',
    ],
    [
      [{ name: 'Ben@x' }, { name: 'ben', userRef: 'ben@x' }],
      '[1] "Ben@x" and [2] "ben" are left out: each userRef becomes the same one by normalization',
    ],
  ])('leaves out %j, names it, and finds the others, at the start and later', async (bad, line) => {
    const good = { name: 'ann', userRef: 'Ann Lee' }
    const lines: string[] = []
    write([good, ...bad])
    const directory = await fileDirectory(path, (one) => lines.push(one))
    expect((await directory.find('ann'))?.userRef).toBe('ann-lee')
    for (const name of ['ben', 'bén', 'Ben@x', "o'x@example.org"]) expect(await directory.find(name)).toBeNull()
    write([good])
    await directory.find('ann')
    write([good, ...bad])
    expect((await directory.find('ann'))?.userRef).toBe('ann-lee')
    expect(lines).toEqual(Array(2).fill(expect.stringContaining(line)))
    expect(lines[0]).toContain(`the directory ${path}: [1]`)
  })

  it('finds a person by two names with the same userRef, and however an accent is written', async () => {
    write([
      { name: 'José', userRef: 'jose', email: 'no address' },
      { name: 'jose@example.org', userRef: 'jose' },
    ])
    const lines: string[] = []
    const directory = await fileDirectory(path, (line) => lines.push(line))
    for (const name of ['jos\u00e9', 'JOSE\u0301', ' José ', 'jose@example.org'])
      expect((await directory.find(name))?.userRef, name).toBe('jose')
    expect(lines).toEqual([`the directory ${path}: [0] "José" has an e-mail address that is not valid`])
  })
})

describe.skipIf(!hasSlapd)('an LDAP server as directory', () => {
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
      { uid: "o'x" },
      { uid: 'Ada Lee' },
      { uid: 'ada-lee' },
      { uid: 'jean-pierre', cn: 'Jean', mail: 'jean@example.org' },
      { uid: 'j2', cn: 'Jean', mail: 'j2@example.org' },
      { uid: 'Kim', labeledURI: 'Kim' },
      { uid: 'k2', labeledURI: 'kIM' },
      { uid: 'k3', labeledURI: 'kim' },
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

  it('finds a person with name and address, and nobody where none or several match', async () => {
    const directory = ldapDirectory(settings, silent)
    const ann = { userRef: 'ann', email: 'ann@example.org', displayName: 'Ann Lee', language: null }
    expect(await directory.find('ann')).toEqual(ann)
    expect(await directory.find('nobody')).toBeNull()
    expect(await directory.find('twin')).toBeNull()
  })

  it('does not find an entry whose reference cannot be used or is that of another entry, and names it', async () => {
    const lines: string[] = []
    const directory = ldapDirectory(settings, (line) => lines.push(line))
    for (const name of ["o'x", 'Ada Lee', 'ada-lee', 'ADA-LEE']) expect(await directory.find(name), name).toBeNull()
    expect((await directory.find('Jean-Pierre'))?.userRef).toBe('jean-pierre')
    expect(lines).toHaveLength(4)
    expect(lines[0]).toMatch(
      /^the directory has an entry that cannot be used: .*: uid must start with a letter or digit/,
    )
    expect(lines[1]).toMatch(
      /: uid becomes that of another entry by normalization, or has capitals that the server does/,
    )
    const attributes = { ...settings.attributes, userRef: 'cn' }
    const byCommonName = ldapDirectory({ ...settings, filter: 'mail={name}', attributes }, silent)
    expect((await byCommonName.find('ann@example.org'))?.userRef).toBe('ann-lee')
    // An entry that the filter never finds is no person.
    const withoutSecond = ldapDirectory({ ...settings, filter: '(&(mail={name})(!(uid=j2)))', attributes }, silent)
    expect((await withoutSecond.find('jean@example.org'))?.userRef).toBe('jean')
    for (const name of ['jean@example.org', 'j2@example.org']) expect(await byCommonName.find(name), name).toBeNull()
  })

  it('finds one of the entries whose references differ by capitals alone, where the server does not ignore them', async () => {
    expect((await ldapDirectory(settings, silent).find('KIM'))?.userRef).toBe('kim')
    const attributes = { ...settings.attributes, userRef: 'labeledURI' }
    for (const filter of ['(labeledURI={name})', '(uid={name})']) {
      const exact = ldapDirectory({ ...settings, filter, attributes }, silent)
      const names = filter.startsWith('(uid') ? ['Kim', 'k2', 'k3'] : ['Kim', 'kIM', 'kim']
      const found = await Promise.all(names.map((name) => exact.find(name)))
      expect(found.map((one) => one?.userRef ?? null)).toEqual([null, null, 'kim'])
    }
  })

  it('takes a name as a name, not as a part of the filter', async () => {
    for (const name of ['*', 'an*', '*)(uid=ann', 'ann)(cn=*', 'a\\2a', 'ann\u0000', '\\', '(', 'ä', '🙂'])
      expect(await ldapDirectory(settings, silent).find(name), name).toBeNull()
  })

  it('cannot be read without the right password, or when it is away', async () => {
    writeFileSync(join(folder, 'wrong'), 'wrong')
    await expect(
      ldapDirectory({ ...settings, bindPasswordFile: join(folder, 'wrong') }, silent).find('ann'),
    ).rejects.toThrow()
    await expect(ldapDirectory({ ...settings, url: 'ldap://127.0.0.1:9' }, silent).find('ann')).rejects.toThrow()
  })
})

describe('another provider as directory', () => {
  const folder = mkdtempSync(join(tmpdir(), 'keystride-upstream-'))
  writeFileSync(join(folder, 'secret'), CLIENT_SECRET)
  const people = [someone('uma')]
  let world: World
  let upstreamPort: number
  let callback: string
  let bridge: Bridge
  const startUpstream = () => {
    const clients = [{ id: 'bridge', secret: CLIENT_SECRET, redirectUris: [callback] }]
    return startBridge(world.service, world.mail.port, { people, port: upstreamPort, settings: { clients } })
  }
  beforeAll(async () => {
    world = await openWorld()
    upstreamPort = await freePort()
    const port = await freePort()
    callback = `http://localhost:${port}/upstream`
    const issuer = `http://localhost:${upstreamPort}`
    const directory = {
      kind: 'userinfo',
      issuer,
      clientId: 'bridge',
      clientSecretFile: join(folder, 'secret'),
      acceptUnverified: true,
    }
    bridge = await startBridge(world.service, world.mail.port, { directory, port })
  })
  afterAll(async () => {
    await bridge.close()
    await world.close()
    rmSync(folder, { recursive: true })
  })

  it('is 101 while it is away, and the person goes on when it is back', async () => {
    const { visitor } = await beginSignIn(bridge, 'uma')
    expect([visitor.title(), visitor.code(), bridge.codes]).toEqual(['One moment, please', 101, [101]])
    await visitor.submit({ action: 'begin' })
    expect([visitor.code(), bridge.codes]).toEqual([101, [101, 101]])
    const another = await beginSignIn(bridge, 'uma')
    await another.visitor.submit({ action: 'cancel' })
    expect(new URL(another.visitor.at).searchParams.get('error')).toBe('temporarily_unavailable')
    const upstream = await startUpstream()
    await visitor.submit({ action: 'begin' })
    expect(visitor.at).toContain(upstream.issuer)
    await upstream.close()
  })

  it('proves the first factor, and its userinfo names the person', async () => {
    const upstream = await startUpstream()
    const { url } = await ask(await relyingParty(upstream.issuer, 'bridge'), {
      login_hint: 'uma',
      redirect_uri: callback,
    })
    const enrolling = new Visitor()
    await enrolling.open(url.href)
    const who = person(71)
    await enroll(world, enrolling, 'uma', who)
    const begun = await beginSignIn(bridge, 'uma')
    // Typed for the provider of the first factor, then for the bridge.
    expect(begun.visitor.at).toContain(upstream.issuer)
    expect((await tokensOf(await signInByTyping(bridge, 'uma', who, {}, begun))).claims()?.sub).toBe('uma')
    // An answer of another sign-in is refused.
    const other = await beginSignIn(bridge, 'uma')
    const { visitor } = await beginSignIn(bridge, 'uma')
    const state = new URL(other.visitor.at).pathname.split('/').pop()
    await visitor.open(`${callback}?code=x&state=${state}.y`)
    expect(visitor.status).toBe(404)
    await upstream.close()
  })
})
