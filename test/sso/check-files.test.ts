import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type HostList, hostList } from '../../src/domain/alert-host.js'
import { checkSsoFiles } from '../../src/sso/check-files.js'
import { readSsoSettings } from '../../src/sso/settings.js'
import { openWorld, startBridge, type World } from './bridge.js'

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

  it('is all there', async () => {
    expect(await problems({})).toBe('')
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
    const client = { id: 'app', secretFile: 'short', redirectUris: ['https://app.example.org/'] }
    const core = { url: 'http://localhost:8080', apikeyFile: 'absent' }
    const directory = { kind: 'file', path: 'nobody.json' }
    expect(await problems({ clients: [client], core, directory }, hosts('other.example.org'))).toBe(
      `SSO_FILE: cannot be used:
  core.apikeyFile: absent cannot be read: ENOENT
  clients.app.secretFile: short holds 5 characters: 16 or more are needed
  mail.host: smtp.example.org is not in ALERT_HOSTS, so no one-time password can be sent
  directory.path: the directory nobody.json names "?", whose userRef is not valid`,
    )
  })
})

describe('a bridge does not start', { timeout: 60_000 }, () => {
  let world: World
  beforeAll(async () => {
    world = await openWorld()
  })
  afterAll(async () => world.close())
  const start = (options: Parameters<typeof startBridge>[2]) => startBridge(world.service, world.mail.port, options)

  it('with the API key of another organization or scope', async () => {
    await expect(start({ apikey: 'unknown' })).rejects.toThrow('no organization of this database has this API key')
    const { json } = await world.service.dashboard('POST', '/keys', { body: { label: 'x', scopes: ['links'] } })
    await expect(start({ apikey: json.data.apikey })).rejects.toThrow('has the scopes links: core is needed')
  })

  it('with a mail server that it may not reach', async () => {
    await expect(start({ more: { ALERT_HOSTS: 'smtp.example.org' } })).rejects.toThrow(
      'localhost is not in ALERT_HOSTS',
    )
  })
})
