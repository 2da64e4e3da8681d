import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { freePort } from '../../src/storage/postgres/embedded/embedded-running.js'
import { keystrideHere } from '../harness/command.js'
import { until } from '../harness/patience.js'
import { startChild } from '../servers/child.js'
import { type FreshDatabase, freshDatabase } from '../servers/database.js'
import { packageTree } from '../servers/package-tree.js'
import { type Document, rendered } from './kustomize.js'
import { signsIn } from './sign-in.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
const read = (file: string) => readFileSync(join(root, file), 'utf8')
const { files }: { files: string[] } = JSON.parse(read('package.json'))

const documents = rendered(join(root, 'deploy/kubernetes/overlays/small'))
const podOf = (kind: string): Document => documents.find((document) => document.kind === kind).spec.template.spec
const { data } = documents.find(({ kind }) => kind === 'ConfigMap')

/**
 * Runs a command with the root of a pod: the image and the secrets read only, a /tmp in memory, programs of this machine, and a user
 * without capabilities. Arguments: folder for the root, image, secrets, program of node, user, then the command.
 */
const POD = `set -e
mount --make-rprivate /
root=$1 image=$2 secrets=$3 node=$4 user=$5
shift 5
mount -t tmpfs tmpfs "$root"
cd "$root"
mkdir usr etc proc dev srv srv/keystride secrets node tmp
cp -P /bin /lib /lib64 .
touch node/node
for folder in usr etc proc dev; do mount --rbind "/$folder" "$folder"; done
mount --bind "$image" srv/keystride
mount --bind "$node" node/node
cp "$secrets"/* secrets
chown -R "0:$user" secrets
chmod 0440 secrets/*
mount -t tmpfs tmpfs tmp
for folder in usr etc srv/keystride; do mount -o remount,bind,ro "$folder"; done
mount -o remount,ro "$root"
exec chroot . setpriv "--reuid=$user" "--regid=$user" --clear-groups --bounding-set=-all --no-new-privs "$@"`

describe.skipIf(process.getuid?.() !== 0)('a pod of the overlay small, without Kubernetes', () => {
  let folder: string
  let image: string
  let fresh: FreshDatabase
  let pod: { readonly process: ChildProcess; readonly output: () => string; readonly gone: Promise<unknown> }
  let ports: { readonly PORT: string; readonly METRICS_PORT: string }
  const key = Buffer.alloc(32, 7).toString('base64')

  /** Starts the only container of a pod with its environment; ports are free ones of this machine. */
  function start({ containers: [container], securityContext }: Document): typeof pod {
    const given = container.env.filter(({ value }: Document) => value !== undefined)
    const set = Object.fromEntries(given.map(({ name, value }: Document) => [name, value]))
    const environment = {
      ...data,
      ...set,
      ...ports,
      REDIS_URL: inject('redisUrl') ?? '',
      STORE_PATIENCE: '10',
      PATH: '/node:/usr/sbin:/usr/bin',
    }
    const user = String(securityContext.runAsUser)
    const place = mkdtempSync(join(folder, 'root-'))
    const facts = [place, image, join(folder, 'secrets'), process.execPath, user]
    const child = startChild('unshare', ['-m', 'bash', '-c', POD, 'bash', ...facts, ...container.command], {
      env: environment,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk))
    return { process: child, output: () => output, gone: once(child, 'exit') }
  }
  const answer = (path: string, port = ports.PORT): Promise<number> =>
    fetch(`http://127.0.0.1:${port}${path}`).then(
      ({ status }) => status,
      () => 0,
    )

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'keystride-pod-'))
    image = packageTree(['package.json', ...files.filter((file) => file !== 'build')])
    fresh = await freshDatabase({ empty: true })
    ports = { PORT: String(await freePort()), METRICS_PORT: String(await freePort()) }
    mkdirSync(join(folder, 'secrets'))
    writeFileSync(join(folder, 'secrets/database-url'), fresh.url)
    writeFileSync(join(folder, 'secrets/encryption-key'), key)
  })
  afterAll(async () => {
    pod?.process.kill('SIGKILL')
    await pod?.gone
    await fresh?.drop()
    rmSync(image, { recursive: true, force: true })
    rmSync(folder, { recursive: true, force: true })
  })

  it('stops before the migration, and names the command', async () => {
    pod = start(podOf('Deployment'))
    await pod.gone
    expect(pod.process.exitCode).toBe(1)
    expect(pod.output()).toContain('keystride migrate')
  })

  it('migrates an empty database by the Job', async () => {
    pod = start(podOf('Job'))
    await pod.gone
    expect([pod.process.exitCode, pod.output()]).toEqual([0, expect.stringContaining('Applied: 010_organization')])
  })

  it('serves a sign-in by typing and by code, as a user without rights', async () => {
    const spec = podOf('Deployment')
    pod = start(spec)
    await until(async () => (await answer('/readyz')) === 200 || pod.process.exitCode !== null, 'start')
    expect(pod.process.exitCode, pod.output()).toBeNull()
    const keystride = keystrideHere({ DATABASE_URL: fresh.url, ENCRYPTION_KEY: key })
    const id = (await keystride('organization', 'create', 'A')).stdout.split('\n')[0] ?? ''
    const apikey = (await keystride('key', 'issue', id)).stdout.trim()
    await signsIn(`http://127.0.0.1:${ports.PORT}/core`, apikey)
    expect([await answer('/metrics', ports.METRICS_PORT), await answer('/metrics')]).toEqual([200, 404])
    const status = readFileSync(`/proc/${pod.process.pid}/status`, 'utf8')
    const field = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1])
    expect([field('Uid'), field('NoNewPrivs'), field('CapBnd')]).toEqual([spec.securityContext.runAsUser, 1, 0])
  })

  it('serves for STOP_LEAD_S after SIGTERM, and ends with status 0', async () => {
    pod.process.kill('SIGTERM')
    await until(async () => (await answer('/readyz')) === 503)
    expect(await answer('/core/status')).toBe(200)
    await pod.gone
    expect(pod.process.exitCode).toBe(0)
  })
})
