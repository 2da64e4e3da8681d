import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { startProcess } from '../faults/service-process.js'
import { freshDatabase } from '../servers/database.js'
import { type Keystride, keystrideWith } from './command.js'

let keystride: Keystride
let env: Record<string, string>
beforeAll(async () => {
  env = { DATABASE_URL: (await freshDatabase()).url, ENCRYPTION_KEY: Buffer.alloc(32, 3).toString('base64') }
  keystride = keystrideWith(env)
})

describe('keystride', () => {
  it.each([
    [['--help']],
    [['organization', '--help']],
    [['key', 'issue', '--help']],
    [['key', 'rotate', '--help']],
    [['member', 'unlock', '--help']],
    [['erasures', 'apply', '--help']],
    [['organization', 'quotas', '--help']],
    [['config', 'check', '--help']],
    [['doctor', '--help']],
    [['calibrate', '--help']],
  ])('%j prints its help', async (args) => {
    const { status, stdout } = await keystride(...args)
    expect(status).toBe(0)
    expect(stdout).toContain('Usage: keystride')
  })

  it('creates and lists organizations, issues, lists and revokes keys', async () => {
    const id = (await keystride('organization', 'create', 'Acme')).stdout.split('\n')[0] ?? ''
    expect((await keystride('organization', 'list')).stdout).toMatch(new RegExp(`${id} +Acme`))
    const { stdout: key } = await keystride('key', 'issue', id, '--label', 'backend', '--scopes', 'core,links')
    expect(key.trim()).toMatch(/^ks_[A-Za-z0-9_-]{43}$/)
    const listed = (await keystride('key', 'list', id)).stdout
    expect(listed).toMatch(/backend +core,links +\S+ +never +live/)
    expect(listed).not.toContain(key.trim())
    const keyId = listed.split('\n')[1]?.split(' ')[0] ?? ''
    expect((await keystride('key', 'revoke', id, keyId)).stdout).toBe('revoked\n')
    expect((await keystride('key', 'list', id)).stdout).toContain('revoked 20')
    expect(await keystride('key', 'revoke', id, keyId)).toMatchObject({ status: 1 })
  })

  it('renames an organization', async () => {
    const id = (await keystride('organization', 'create', 'Before')).stdout.split('\n')[0] ?? ''
    expect((await keystride('organization', 'rename', id, 'After')).stdout).toBe('renamed\n')
    expect((await keystride('organization', 'list')).stdout).toMatch(new RegExp(`${id} +After`))
    const absent = '0198c0de-0000-7000-8000-000000000000'
    expect((await keystride('organization', 'rename', absent, 'After')).status).toBe(1)
  })

  it('shows and changes the quotas of an organization', async () => {
    const id = (await keystride('organization', 'create', 'Quotas')).stdout.split('\n')[0] ?? ''
    expect((await keystride('organization', 'quotas', id)).stdout).toMatch(/mode: soft[\s\S]*accounts +unlimited +0/)
    const changed = await keystride('organization', 'quotas', id, '--mode', 'strict', '--accounts', '7')
    expect(changed.stdout).toMatch(/mode: strict[\s\S]*accounts +7 +0/)
    const further = await keystride('organization', 'quotas', id, '--shared-accounts', '2')
    expect(further.stdout).toMatch(/mode: strict[\s\S]*accounts +7 +0[\s\S]*shared accounts +2 +0/)
    for (const bad of ['-1', '1.5', 'many', ''])
      expect((await keystride('organization', 'quotas', id, '--accounts', bad)).status).toBe(2)
    expect((await keystride('organization', 'quotas', id, '--mode', 'hard')).stderr).toContain('soft, strict')
  })

  it('shows and changes the rate limit of each key of an organization', async () => {
    const id = (await keystride('organization', 'create', 'Limits')).stdout.split('\n')[0] ?? ''
    const limits = (...given: string[]) => keystride('organization', 'limits', id, ...given)
    expect((await limits('--rate', '50')).stdout).toBe('50 requests a second for each key, 100 at once\n')
    expect((await limits('--rate', '50', '--burst', '5')).stdout).toContain('5 at once')
    expect((await limits('--rate', 'default')).stdout).toContain("the deployment's default")
    for (const bad of [
      ['--rate', 'many'],
      ['--burst', '5'],
    ])
      expect([bad, (await limits(...bad)).status]).toEqual([bad, 2])
  })

  it('prints an error in one line, and ends with status 1', async () => {
    const unknown = '0198c0de-0000-7000-8000-000000000000'
    expect(await keystride('key', 'issue', unknown)).toMatchObject({
      status: 1,
      stderr: 'keystride: there is no organization of that id\n',
    })
    const bad = await keystride('key', 'issue', 'nonsense')
    expect([bad.status, bad.stderr]).toEqual([2, expect.stringContaining('wanted an id')])
    const scopes = await keystride('key', 'issue', unknown, '--scopes', 'core,kitchen')
    expect(scopes.stderr).toContain('wanted some of core, links, dashboard')
  })

  it.each([
    [['nonsense'], "unknown command 'nonsense'"],
    [['key', 'nonsense'], "unknown command 'nonsense'"],
    [['organization', 'list', '--nonsense'], "unknown option '--nonsense'"],
    [['organization', 'create'], "missing required argument 'name'"],
    [['doctor', '--backup-max-age', 'old'], 'wanted a number of hours above 0'],
    [['completion', 'csh'], 'Allowed choices are bash, zsh, fish'],
  ])('ends with status 2 for a usage error: %j', async (args, why) => {
    const { status, stderr } = await keystride(...args)
    expect([status, stderr]).toEqual([2, expect.stringContaining(why)])
  })

  it('prints lists as JSON', async () => {
    const id = (await keystride('organization', 'create', 'Listed')).stdout.split('\n')[0] ?? ''
    const organizations = JSON.parse((await keystride('organization', 'list', '--json')).stdout)
    expect(organizations).toContainEqual({ id, name: 'Listed', created: expect.stringMatching(/^20/) })
    await keystride('key', 'issue', id, '--scopes', 'core,links')
    const [key] = JSON.parse((await keystride('key', 'list', id, '--json')).stdout)
    expect(key).toMatchObject({ label: 'unnamed', scopes: ['core', 'links'], state: 'live' })
    const json = async (...args: string[]) => JSON.parse((await keystride(...args, '--json')).stdout)
    expect(await json('organization', 'quotas', id, '--accounts', '7')).toMatchObject({
      quotas: { mode: 'soft', accounts: 7 },
      headcount: { nAccounts: 0 },
    })
    expect(await json('organization', 'limits', id)).toBeNull()
    expect(await json('organization', 'limits', id, '--rate', '5')).toEqual({ perSecond: 5, burst: 10 })
    expect(await json('organization', 'redirects', id, 'https://app.example')).toEqual(['https://app.example'])
    expect(await json('key', 'status')).toEqual([
      { id: expect.any(String), organizations: expect.any(Number), state: 'present' },
    ])
    const variables = JSON.parse((await keystride('config', 'check', '--json')).stdout)
    expect(variables).toContainEqual(expect.objectContaining({ variable: 'DATABASE_URL', state: 'set' }))
  })

  it('completes commands and options in bash', async () => {
    const { stdout } = await keystride('completion', 'bash')
    const completed = (line: string) => {
      const words = line.split(' ')
      const ask = `COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}) COMP_CWORD=${words.length - 1}; _keystride; echo "\${COMPREPLY[*]}"`
      return execFileSync('bash', ['-c', `${stdout}\n${ask}`], { encoding: 'utf8' }).trim()
    }
    expect(completed('keystride org')).toBe('organization')
    expect(completed('keystride organization li')).toBe('list limits')
    expect(completed('keystride key issue --sc')).toBe('--scopes')
    expect(completed('keystride doc')).toBe('doctor')
    expect(completed('keystride doctor --b')).toBe('--backup --backup-max-age')
    expect(completed('keystride completion ')).toBe('bash zsh fish --help')
  })

  const missing = ['zsh', 'fish'].filter((shell) => spawnSync(shell, ['--version']).status !== 0)
  for (const shell of missing) console.warn(`\n*** NO ${shell}: its completion is not tested ***\n`)

  it.skipIf(missing.includes('zsh'))('completes commands, options and choices in zsh', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'keystride-zsh-'))
    writeFileSync(join(folder, 'keystride.zsh'), (await keystride('completion', 'zsh')).stdout)
    // Types the line, the tab key and return into an interactive shell, in which `keystride` prints its arguments.
    writeFileSync(
      join(folder, 'type.zsh'),
      `zmodload zsh/zpty
zpty shell "zsh -f -i"
zpty -w shell 'PS1=; autoload -Uz compinit; compinit -D -u; keystride() { print -r -- "ran"": $* ." }
  source ${folder}/keystride.zsh; print re""ady'
zpty -r -m shell out '*ready*'
zpty -w -n shell "$1"$'\t\n'
zpty -r -m shell out '*ran: * .*'
print -r -- "\${\${out##*ran: }%% .*}"
zpty -d shell
`,
    )
    const completed = (line: string) =>
      execFileSync('zsh', ['-f', join(folder, 'type.zsh'), line], { encoding: 'utf8', cwd: folder, timeout: 20_000 })
    expect(completed('keystride org')).toBe('organization\n')
    expect(completed('keystride organization lis')).toBe('organization list\n')
    expect(completed('keystride key issue --sc')).toBe('key issue --scopes\n')
    expect(completed('keystride completion f')).toBe('completion fish\n')
    expect(completed('keystride backup verify key')).toBe('backup verify keystride.zsh\n')
    rmSync(folder, { recursive: true, force: true })
  })

  it.skipIf(missing.includes('fish'))('completes commands, options and choices in fish', async () => {
    const { stdout } = await keystride('completion', 'fish')
    const folder = mkdtempSync(join(tmpdir(), 'keystride-fish-'))
    writeFileSync(join(folder, 'backup.dump'), '')
    const completed = (line: string) =>
      execFileSync('fish', ['-N', '-c', `${stdout}\ncomplete -C '${line}'`], {
        encoding: 'utf8',
        cwd: folder,
        env: { ...process.env, HOME: folder },
      })
        .trim()
        .split('\n')
        .sort()
    expect(completed('keystride org')).toEqual(['organization'])
    expect(completed('keystride organization li')).toEqual(['limits', 'list'])
    expect(completed('keystride key issue --sc')).toEqual(['--scopes'])
    expect(completed('keystride completion ')).toEqual(['--help', 'backup.dump', 'bash', 'fish', 'zsh'])
    expect(completed('keystride backup verify back')).toEqual(['backup.dump'])
    rmSync(folder, { recursive: true, force: true })
  })

  it.each(['--help', 'organization --help', 'key issue nonsense'])(
    'loads no module of a store for %s',
    async (line) => {
      const { stderr } = await keystrideWith({ ...env, NODE_DEBUG: 'esm' })(...line.split(' '))
      expect(stderr).toContain('cli/keystride.js')
      expect(stderr).not.toMatch(/open-stores\.js|node_modules\/(zod|postgres|pg)\//)
    },
  )

  it('migrates, and does nothing the second time', async () => {
    expect((await keystride('migrate')).stdout).toBe('The database is up to date.\n')
  })

  it('checks the configuration and reaches the stores', async () => {
    const { status, stdout } = await keystride('config', 'check', '--connect')
    expect(status).toBe(0)
    expect(stdout).toMatch(/DATABASE_URL +set/)
    expect(stdout).toContain('PostgreSQL answers')
    expect(stdout).not.toContain(env.DATABASE_URL)
  })

  it('warns of unknown variables, also if the configuration is invalid', async () => {
    const warning = 'keystride: warning: METRIC_PORT is not a setting of Keystride: did you mean METRICS_PORT?\n'
    const misspelt = keystrideWith({ ...env, METRIC_PORT: '9100' })
    for (const args of [[], ['--json']]) {
      const { status, stderr } = await misspelt('config', 'check', ...args)
      expect([args, status, stderr.startsWith(warning)]).toEqual([args, 0, true])
    }
    const unusable = keystrideWith({ ...env, METRIC_PORT: '9100', PORT: 'many' })
    for (const args of [['config', 'check'], ['serve']]) {
      const { status, stderr } = await unusable(...args)
      expect([args, status, stderr.startsWith(warning)]).toEqual([args, 1, true])
    }
    const service = await startProcess({ ...env, METRIC_PORT: '9100', PROCESSES: '2' })
    expect((await service.stop()).status).toBe(0)
    expect(
      service.output().match(/METRIC_PORT is not a setting of Keystride: did you mean METRICS_PORT/g),
    ).toHaveLength(1)
  })

  it('prints the same pattern of a made-up person for the same numbers', async () => {
    const [one, again, other] = await Promise.all(
      [
        ['1', '1'],
        ['1', '1'],
        ['2', '1'],
      ].map(([who = '', session = '']) => keystride('typing-pattern', '--person', who, '--session', session)),
    )
    expect(one?.stdout).toBe(again?.stdout)
    expect(one?.stdout).not.toBe(other?.stdout)
    expect(JSON.parse(one?.stdout ?? '').kevt.length).toBeGreaterThanOrEqual(80)
  })
})
