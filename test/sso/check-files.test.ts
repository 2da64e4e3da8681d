import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { checkSingleSignOn } from '../../src/cli/doctor/single-sign-on.js'
import { type HostList, hostList } from '../../src/domain/alert-host.js'
import { USER_REF_RULE } from '../../src/domain/user-ref.js'
import { checkSsoFiles } from '../../src/sso/check-files.js'
import { readSsoSettings } from '../../src/sso/settings.js'
import { keystrideHere } from '../harness/command.js'
import { openWorld, startBridge } from './bridge.js'

const hosts = (...names: string[]) => hostList(names) as HostList

describe('what the settings refer to', () => {
  const folder = mkdtempSync(join(tmpdir(), 'keystride-check-'))
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text)
  afterAll(() => rmSync(folder, { recursive: true }))
  write('apikey', 'a key')
  write('short', 'short')
  write('people.json', '[{"name":"ann"}]')
  write('nobody.json', '[{"name":"?"}]')
  const settings = (more: object = {}) => {
    write(
      'sso.json',
      JSON.stringify({
        issuer: 'https://sso.example.org',
        core: { url: 'http://localhost:8080', apikeyFile: 'apikey' },
        directory: { kind: 'file', path: 'people.json' },
        mail: { host: 'smtp.example.org', port: 25, tls: 'none', sender: 'a@example.org' },
        clients: [{ id: 'app', secret: 'sixteen characters', redirectUris: ['https://app.example.org/'] }],
        ...more,
      }),
    )
    return readSsoSettings(join(folder, 'sso.json'))
  }
  const problems = async (more: object, list = hosts('smtp.example.org')): Promise<string> =>
    checkSsoFiles(settings(more), list).then(
      () => '',
      (error: Error) => error.message.replaceAll(`${folder}/`, ''),
    )

  it('is readable in every example of docs/sso.md', () => {
    const page = readFileSync(new URL('../../docs/sso.md', import.meta.url), 'utf8')
    const [whole = '', ...parts] = [...page.matchAll(/```json\n([\s\S]*?)```/g)].map(([, text = '']) => text)
    expect(settings(JSON.parse(whole)).clients[0]?.id).toBe('wiki')
    // A client, or fields of the file.
    for (const part of parts) settings(part.startsWith('{') ? { clients: [JSON.parse(part)] } : JSON.parse(`{${part}}`))
    expect(parts.length).toBeGreaterThan(3)
  })

  it('names the person of a hint wherever a client takes its sub from one', () => {
    const upstream = { issuer: 'https://up.example.org', jwksUri: 'https://up.example.org/jwks', audience: 'bridge' }
    const redirectUris = ['https://app.example.org/']
    const clients = [{ id: 'entra', flow: 'id_token', subject: 'hint', redirectUris }]
    expect(settings({ upstream, clients }).clients[0]?.subject).toBe('hint')
    expect(() => settings({ clients })).toThrow('need upstream')
    const userinfo = { kind: 'userinfo', issuer: 'https://up.example.org', clientId: 'x', clientSecretFile: 'short' }
    expect(() => settings({ upstream, clients, directory: userinfo })).toThrow(
      'need a directory that finds people by name',
    )
    const byCode = [{ id: 'entra', secret: 'sixteen characters', subject: 'hint', redirectUris }]
    expect(() => settings({ upstream, clients: byCode })).toThrow('need flow "id_token"')
  })

  it('is named with every problem at once', async () => {
    expect(await problems({})).toBe('')
    const client = { id: 'app', secretFile: 'short', redirectUris: ['https://app.example.org/'] }
    const core = { url: 'http://localhost:8080', apikeyFile: 'absent' }
    const directory = { kind: 'file', path: 'nobody.json' }
    expect(await problems({ clients: [client], core, directory }, hosts('other.example.org'))).toBe(
      `SSO_FILE: cannot be used:
  core.apikeyFile: absent cannot be read: ENOENT
  clients.app.secretFile: short holds 5 characters: 16 or more are needed
  mail.host: smtp.example.org is not in ALERT_HOSTS, so no one-time password can be sent
  directory.path: the directory nobody.json has no entry that can be used: [0] "?" is left out: userRef ${USER_REF_RULE}`,
    )
  })

  it('is warned of an entry of the directory that is left out', async () => {
    write('some.json', JSON.stringify([{ name: "o'x@example.org" }, { name: 'ann' }]))
    const directory = { kind: 'file', path: 'some.json' }
    expect(await problems({ directory })).toBe('')
    const ssoFile = join(folder, 'sso.json')
    const alertHosts = hosts('smtp.example.org')
    const [found] = await checkSingleSignOn({ ssoFile, alertHosts })
    expect([found?.level, found?.found]).toEqual(['warning', expect.stringContaining(`"o'x@example.org" is left out`)])
    const { status, stderr } = await keystrideHere({ SSO_FILE: ssoFile, ALERT_HOSTS: 'smtp.example.org' })(
      'config',
      'check',
    )
    expect([status, stderr]).toEqual([0, expect.stringContaining(`warning: directory.path: the directory `)])
    expect(await checkSsoFiles(settings({ directory }), alertHosts)).toEqual([
      `directory.path: the directory ${join(folder, 'some.json')}: [0] "o'x@example.org" is left out: userRef ${USER_REF_RULE}`,
    ])
  })

  it('is refused with the id of a client that cannot be used', () => {
    const client = (id: string, more = {}) => ({
      id,
      secret: 'sixteen characters',
      redirectUris: ['https://app.example.org/'],
      ...more,
    })
    for (const [more, why] of [
      [{ redirectUris: ['https://wiki.example.org/*'] }, 'clients[1] "wiki": redirectUris[0]: must be an https URL'],
      [{ secret: 'short' }, 'clients[1] "wiki": secret: must have 16 characters or more'],
      [{ redirectUri: 'https://wiki.example.org/' }, 'clients[1] "wiki": has unknown fields: redirectUri'],
      [{ id: 'app' }, 'clients[1] "app": id: is the id of another client'],
      [{ flow: 'implicit' }, 'clients[1] "wiki": flow: must be one of code, id_token'],
    ] as const)
      expect(() => settings({ clients: [client('app'), client('wiki', more)] })).toThrow(why)
  })
})

it('a bridge starts with the API key of its organization and scope, and with a mail server that it may reach', async () => {
  const { service, mail, close } = await openWorld()
  const { json } = await service.dashboard('POST', '/keys', { body: { label: 'x', scopes: ['links'] } })
  for (const [options, why] of [
    [{ apikey: 'unknown' }, 'no organization of this database has this API key'],
    [{ apikey: json.data.apikey }, 'has the scopes links: core is needed'],
    [{ more: { ALERT_HOSTS: 'smtp.example.org' } }, 'localhost is not in ALERT_HOSTS'],
  ] as const)
    await expect(startBridge(service, mail.port, options)).rejects.toThrow(why)
  await close()
})
