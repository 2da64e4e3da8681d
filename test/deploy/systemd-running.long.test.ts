import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { freePort } from '../../src/storage/postgres/embedded/embedded-running.js'
import { until } from '../harness/patience.js'
import { type FreshDatabase, freshDatabase } from '../servers/database.js'
import { packageTree } from '../servers/package-tree.js'
import { bootSystemd, type Systemd, whyNoSystemd } from '../servers/systemd.js'
import { signsIn } from './sign-in.js'

const why = whyNoSystemd()
if (why !== null) console.warn(`\n*** ${why} ***\n`)

const root = fileURLToPath(new URL('../..', import.meta.url))
const read = (file: string) => readFileSync(join(root, file), 'utf8')
const { files }: { files: string[] } = JSON.parse(read('package.json'))
/** The commands of docs/deployment.md from the settings on: the package is mounted in place of its installation. */
const steps = [...read('docs/deployment.md').matchAll(/```sh systemd\n([\s\S]*?)```/g)].map(([, step = '']) => step)

describe.skipIf(why !== null)('the units, started by systemd as docs/deployment.md says', () => {
  let place: string
  let fresh: FreshDatabase
  let systemd: Systemd
  let ports: { service: number; metrics: number }

  const shell = (script: string): string => {
    // With a socket as its input, bash reads its settings for interactive shells.
    const { status, output } = systemd.run('bash', '--norc', '-euo', 'pipefail', '-c', `cd ${root}\n${script}`)
    expect([status, status === 0 ? '' : output]).toEqual([0, ''])
    return output
  }
  const answer = (path: string, port = ports.service): Promise<number> =>
    fetch(`http://127.0.0.1:${port}${path}`).then(
      ({ status }) => status,
      () => 0,
    )
  const startsOf = () => systemd.log().split('"processes":2').length - 1
  /** Waits until both processes serve, after this many starts of the service. */
  const serves = (starts: number) => until(async () => startsOf() === starts, 'start')
  const mainPid = () => systemd.property('keystride', 'MainPID')
  /** A file of /proc/<pid> of a process in the namespace. */
  const processFile = (pid: string, file: string) => systemd.run('cat', `/proc/${pid}/${file}`).output
  const processes = () =>
    systemd.run('cat', '/sys/fs/cgroup/system.slice/keystride.service/cgroup.procs').output.trim().split('\n')

  beforeAll(async () => {
    place = packageTree(['package.json', ...files.filter((file) => file !== 'build')])
    fresh = await freshDatabase({ empty: true })
    ports = { service: await freePort(), metrics: await freePort() }
    systemd = await bootSystemd({ '/opt/keystride/node_modules/keystride': place, '/usr/bin/node': process.execPath })
    const [settings = '', start = ''] = steps
    shell(settings.replace(/'postgres:.*'/, `'${fresh.url}'`))
    const edits = {
      REDIS_URL: inject('redisUrl') ?? '',
      PORT: String(ports.service),
      METRICS_PORT: String(ports.metrics),
      PROCESSES: '2',
      // Other test files use connections of the same server.
      DATABASE_POOL: '5',
      STOP_LEAD_S: '15',
      QUEUE_MS: '20000',
      STORE_PATIENCE: '10',
    }
    for (const [name, value] of Object.entries(edits))
      shell(`sed -i 's|^#\\?${name}=.*|${name}=${value}|' /etc/keystride/keystride.env`)
    shell(start)
    await serves(1).catch((error: unknown) => {
      throw new Error(`${error}\n${systemd.log()}`)
    })
  })
  afterAll(async () => {
    await systemd?.close()
    await fresh?.drop()
    if (place !== undefined) rmSync(place, { recursive: true, force: true })
  })

  it('migrate an empty database before the service starts', () => {
    expect(systemd.property('keystride-migrate', 'Result')).toBe('success')
    expect(systemd.log()).toMatch(/Applied: 010_organization/)
    expect(systemd.property('keystride', 'ActiveState')).toBe('active')
  })

  it('serve a sign-in by typing and by code, and metrics on the port of their own', async () => {
    const [, , create = ''] = steps
    const id = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/.exec(shell(create))?.[0]
    const issued = shell(create.replace(/organization create .*/, `key issue ${id} --label test`))
    await signsIn(`http://127.0.0.1:${ports.service}/core`, /ks_[\w-]{43}/.exec(issued)?.[0] ?? '')
    expect([await answer('/metrics', ports.metrics), await answer('/metrics')]).toEqual([200, 404])
    // The thread that hashed the code has lowered its priority, which the filter of system calls allows.
    const nice = processes().flatMap((pid) =>
      systemd
        .run('bash', '-c', `cat /proc/${pid}/task/*/stat`)
        .output.trim()
        .split('\n')
        .map((line) => Number(line.split(') ')[1]?.split(' ')[16])),
    )
    expect(nice).toContain(10)
  })

  it('run as a user without rights, whose only writable place is its own /tmp', () => {
    const status = processFile(mainPid(), 'status')
    const field = (name: string) => new RegExp(`^${name}:\\s+(.*)$`, 'm').exec(status)?.[1]
    expect(Number(field('Uid')?.split('\t')[0])).toBeGreaterThan(60_000)
    for (const name of ['CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb']) expect(field(name)).toBe('0'.repeat(16))
    expect([field('NoNewPrivs'), field('Seccomp')]).toEqual(['1', '2'])
    const uid = field('Uid')?.split('\t')[0] ?? ''
    const writes = (path: string) =>
      systemd.run('nsenter', '-t', mainPid(), '-m', 'setpriv', `--reuid=${uid}`, '--clear-groups', 'touch', path)
        .status === 0
    expect([writes('/tmp/mine'), writes('/var/tmp/mine')]).toEqual([true, true])
    for (const folder of ['/opt/keystride', '/etc/keystride', '/dev/shm', '/run', '/run/lock'])
      expect([folder, writes(`${folder}/mine`)]).toEqual([folder, false])
    expect(readdirSync('/tmp')).not.toContain('mine')
    expect(systemd.run('bash', '-c', 'stat -c %a /etc/keystride/*').output).toBe('600\n600\n600\n')
  })

  it('keep the secrets out of the environment of each process', () => {
    const key = shell('cat /etc/keystride/encryption-key').trim()
    expect(key).toHaveLength(44)
    expect(processes().length).toBe(3)
    for (const pid of processes()) {
      const environment = processFile(pid, 'environ')
      expect(environment).toContain('ENCRYPTION_KEY_FILE=/run/credentials/keystride.service/encryption-key')
      expect(environment).not.toContain(key)
      expect(environment).not.toContain(fresh.url)
    }
  })

  it('restart a killed process of the service, and the whole service if its first process is killed', async () => {
    const [first, second, third] = processes()
    expect(first).toBe(mainPid())
    systemd.run('kill', '-KILL', third ?? '')
    await until(async () => processes().length === 3 && !processes().includes(third ?? ''))
    expect(processes()).toContain(second)
    expect(systemd.property('keystride', 'NRestarts')).toBe('0')
    systemd.run('kill', '-KILL', first ?? '')
    await until(async () => systemd.property('keystride', 'NRestarts') === '1')
    await until(async () => processes().length === 3 && !processes().includes(first ?? ''))
    await serves(2)
    expect(processes()).not.toContain(second)
  })

  it('stop on request: serve for STOP_LEAD_S, then end without SIGKILL', async () => {
    const stopping = systemd.run('systemctl', 'stop', '--no-block', 'keystride')
    expect(stopping).toEqual({ status: 0, output: '' })
    await until(async () => (await answer('/readyz')) === 503)
    expect(await answer('/core/status')).toBe(200)
    expect(systemd.property('keystride', 'ActiveState')).toBe('deactivating')
    await until(async () => systemd.property('keystride', 'ActiveState') === 'inactive')
    expect(systemd.property('keystride', 'Result')).toBe('success')
    expect(systemd.property('keystride', 'ExecMainStatus')).toBe('0')
    expect(await answer('/livez')).toBe(0)
  })

  it('start again once the database is reachable', async () => {
    const url = shell('cat /etc/keystride/database-url').trim()
    const lost = new URL(url)
    lost.port = String(await freePort())
    shell(`echo '${lost.href}' >/etc/keystride/database-url`)
    systemd.run('systemctl', 'start', '--no-block', 'keystride')
    await until(async () => Number(systemd.property('keystride', 'NRestarts')) >= 2)
    expect(await answer('/livez')).toBe(0)
    shell(`echo '${url}' >/etc/keystride/database-url`)
    await serves(3)
    expect(await answer('/readyz')).toBe(200)
  })
})
