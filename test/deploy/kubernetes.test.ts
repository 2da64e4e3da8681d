import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { configTable, readConfig } from '../../src/process/config.js'
import { ALLOCATOR, HEAP_FLAGS } from '../../src/process/heap.js'
import { type Document, parsed, rendered } from './kustomize.js'

const require = createRequire(import.meta.url)
const root = fileURLToPath(new URL('../..', import.meta.url))
const read = (file: string) => readFileSync(join(root, file), 'utf8')
const { version }: { version: string } = JSON.parse(read('package.json'))
const variables = configTable().map(({ name }) => name)

const documentsOf = (overlay: string): Document[] => rendered(join(root, 'deploy/kubernetes/overlays', overlay))
const secretOf = (overlay: string): Document =>
  parsed(read(`deploy/kubernetes/overlays/${overlay}/secret.yaml.example`))[0]

/** The fault that the schema of Kubernetes finds in a document; null if it is valid. */
function fault(document: Document): string | null {
  const module = require(`kubernetes-models/${document.apiVersion}/${document.kind}`)
  try {
    new module[document.kind](structuredClone(document)).validate()
    return null
  } catch (error) {
    return String(error)
  }
}

/**
 * The faults that the types of Kubernetes find in each document: the schema accepts unknown fields, the types do not.
 * Each document becomes a literal of its type in one file, which the compiler checks.
 */
function faultsOfTypes(documents: readonly Document[]): string[][] {
  const folder = mkdtempSync(join(tmpdir(), 'keystride-types-'))
  const file = join(folder, 'documents.ts')
  const lines = documents.map(
    (document, i) =>
      `const _${i}: import('kubernetes-models/${document.apiVersion}/${document.kind}').I${document.kind} = ${JSON.stringify(document)}`,
  )
  writeFileSync(file, lines.join('\n'))
  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    paths: { 'kubernetes-models/*': [join(root, 'node_modules/kubernetes-models/*')] },
    types: [],
  }
  const found = documents.map((): string[] => [])
  for (const { start, messageText, file: source } of ts.getPreEmitDiagnostics(ts.createProgram([file], options))) {
    const line = source?.getLineAndCharacterOfPosition(start ?? 0).line ?? 0
    found[line]?.push(ts.flattenDiagnosticMessageText(messageText, ' '))
  }
  rmSync(folder, { recursive: true })
  return found
}

const OVERLAYS = ['small', 'production'] as const

it('the manifests are valid by the schema and the types of Kubernetes, which find planted faults', () => {
  const documents = OVERLAYS.flatMap((overlay) => [...documentsOf(overlay), secretOf(overlay)])
  expect(documents.map(fault).filter((found) => found !== null)).toEqual([])
  const planted = structuredClone(documents.find(({ kind }) => kind === 'Deployment'))
  planted.spec.template.spec.containers[0].securityContext.capabilities.drops = ['ALL']
  const faults = faultsOfTypes([...documents, planted])
  expect(faults.pop()?.join()).toMatch(/known properties, and .*drops/)
  expect(faults.flat()).toEqual([])
  planted.spec.template.spec.containers[0].resources.limits.memory = '512 MB'
  expect(fault(planted)).toContain('data/spec')
})

it.skipIf(spawnSync('kubectl', ['version', '--client']).status !== 0)('kubectl renders the same documents', () => {
  const byName = (documents: Document[]) =>
    documents.map((one) => [`${one.kind} ${one.metadata.name}`, one]).sort(([a], [b]) => (a < b ? -1 : 1))
  for (const overlay of OVERLAYS) {
    const folder = join(root, 'deploy/kubernetes/overlays', overlay)
    const text = execFileSync('kubectl', ['kustomize', folder], { encoding: 'utf8' })
    expect(byName(documentsOf(overlay))).toEqual(byName(parsed(text)))
  }
})

describe.each(OVERLAYS)('the manifests of the overlay %s', (overlay) => {
  const documents = documentsOf(overlay)
  const secret = secretOf(overlay)
  const { stringData } = secret
  const ofKind = (kind: string): Document[] => documents.filter((document) => document.kind === kind)
  const namesOf = (kind: string): string[] => ofKind(kind).map(({ metadata }) => metadata.name)
  const deployments = ofKind('Deployment')
  const templates = [...deployments, ...ofKind('Job')].map(({ spec }) => spec.template)
  const containers = templates.flatMap(({ spec }) => spec.containers)
  const environmentOf = (container: Document): Record<string, string> =>
    Object.fromEntries(container.env.map(({ name, value }: Document) => [name, value]))
  /** Each Deployment with its only container, the container's environment, and its disruption budget. */
  const services: Document[] = deployments.map((deployment) => {
    const [container] = deployment.spec.template.spec.containers
    const budget = ofKind('PodDisruptionBudget').find(({ metadata }) => metadata.name === deployment.metadata.name)
    return { deployment, container, env: environmentOf(container), budget }
  })
  const replicasOf = ({ metadata, spec }: Document) =>
    spec.replicas ??
    ofKind('HorizontalPodAutoscaler').find((one) => one.spec.scaleTargetRef.name === metadata.name)?.spec.minReplicas ??
    1

  it('begin with the namespace, in which all others are, each under its own name', () => {
    const [namespace, ...others] = documents
    expect(namespace).toMatchObject({ kind: 'Namespace', metadata: { name: 'keystride' } })
    expect(others.filter(({ metadata }) => metadata.namespace !== 'keystride')).toEqual([])
    const names = documents.map(({ kind, metadata }) => `${kind} ${metadata.name}`)
    expect(new Set(names).size).toBe(names.length)
    expect(ofKind('Secret')).toEqual([])
  })

  it('run pods that the level restricted admits, without a token, from the image of the Dockerfile as its user', () => {
    expect(documents[0].metadata.labels['pod-security.kubernetes.io/enforce']).toBe('restricted')
    const user = Number(/^USER (\d+):/m.exec(read('Dockerfile'))?.[1])
    for (const { spec } of templates) {
      expect(spec).toMatchObject({
        securityContext: {
          runAsNonRoot: true,
          runAsUser: user,
          fsGroup: user,
          seccompProfile: { type: 'RuntimeDefault' },
        },
        automountServiceAccountToken: false,
      })
      expect([spec.hostNetwork, spec.hostPID, spec.hostIPC, spec.initContainers]).toEqual(Array(4).fill(undefined))
      expect(namesOf('ServiceAccount')).toContain(spec.serviceAccountName)
      const kinds: string[] = spec.volumes.flatMap(({ name: _, ...kind }: Document) => Object.keys(kind))
      expect(kinds.filter((kind) => !['secret', 'configMap', 'emptyDir'].includes(kind))).toEqual([])
    }
    for (const { image, command, securityContext, resources } of containers) {
      expect(securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      })
      expect(resources.requests).toMatchObject({ cpu: expect.anything(), memory: expect.anything() })
      expect(resources.limits).toEqual({ memory: expect.anything() })
      expect(image).toBe(`keystride:${version}`)
      const [, program = ''] = /^\/srv\/keystride\/(bin\/.*\.mjs)$/m.exec(command.join('\n')) ?? []
      expect(existsSync(join(root, program))).toBe(true)
    }
    expect(read('Dockerfile')).toMatch(/^WORKDIR \/srv\/keystride\n[\s\S]*^COPY bin bin$/m)
  })

  it('give a single process the flags that the service gives to several', () => {
    for (const { container, env } of services) {
      expect(container.command.slice(1, -2)).toEqual(HEAP_FLAGS)
      expect(env).toMatchObject({ ...ALLOCATOR, PROCESSES: '1', SCORING: 'inline' })
    }
  })

  it('select by labels that the pods have', () => {
    const matching = (selector: Record<string, string>) =>
      templates.filter(({ metadata }) =>
        Object.entries(selector).every(([name, value]) => metadata.labels[name] === value),
      ).length
    for (const { deployment, budget } of services) {
      const { selector, template } = deployment.spec
      expect(matching(selector.matchLabels)).toBe(1)
      expect(template.metadata.labels).toMatchObject(selector.matchLabels)
      for (const { labelSelector } of template.spec.topologySpreadConstraints) expect(labelSelector).toEqual(selector)
      expect(budget.spec.selector).toEqual(selector)
    }
    for (const { spec } of ofKind('Service')) expect(matching(spec.selector)).toBeGreaterThan(0)
    for (const { spec } of ofKind('NetworkPolicy')) {
      expect(Object.keys(spec.podSelector).filter((name) => name !== 'matchLabels')).toEqual([])
      expect(matching(spec.podSelector.matchLabels ?? {})).toBeGreaterThan(0)
    }
    for (const { spec } of ofKind('HorizontalPodAutoscaler'))
      expect(namesOf('Deployment')).toContain(spec.scaleTargetRef.name)
  })

  it('name ports that the containers have, and the service serves on them', () => {
    for (const { container, env } of services) {
      const ports = Object.fromEntries(
        container.ports.map(({ name, containerPort }: Document) => [name, containerPort]),
      )
      expect(ports).toEqual({ http: Number(env.PORT), metrics: Number(env.METRICS_PORT) })
      for (const [probe, path] of [
        ['startupProbe', '/livez'],
        ['livenessProbe', '/livez'],
        ['readinessProbe', '/readyz'],
      ] as const)
        expect(container[probe].httpGet).toMatchObject({ path, port: 'http' })
    }
    const named = [
      ...ofKind('Service').flatMap(({ spec }) => spec.ports.map(({ targetPort }: Document) => targetPort)),
      ...ofKind('NetworkPolicy').flatMap(({ spec }) =>
        (spec.ingress ?? []).flatMap(({ ports }: Document) => ports.map(({ port }: Document) => port)),
      ),
    ]
    expect([...new Set(named)].sort()).toEqual(['http', 'metrics'])
  })

  it('find each key of ConfigMap and Secret that they name', () => {
    const isKey = (name: string, key: string) =>
      expect([name, Object.keys(stringData)]).toEqual([secret.metadata.name, expect.arrayContaining([key])])
    for (const { env, envFrom } of containers) {
      expect(envFrom.map(({ configMapRef }: Document) => configMapRef.name)).toEqual(namesOf('ConfigMap'))
      const refs = env.flatMap(({ valueFrom }: Document) => (valueFrom === undefined ? [] : [valueFrom.secretKeyRef]))
      expect(refs.length).toBeGreaterThan(0)
      for (const { name, key, optional } of refs) if (!optional) isKey(name, key)
    }
    for (const { spec } of templates) {
      const places: string[] = spec.containers.flatMap((one: Document) => Object.values(environmentOf(one)))
      const mounted = spec.volumes.flatMap((volume: Document) => volume.secret ?? [])
      expect(mounted).toHaveLength(1)
      for (const { key, path } of mounted[0].items) {
        isKey(mounted[0].secretName, key)
        expect(places).toContain(`/secrets/${path}`)
      }
      const volumes = spec.volumes.map(({ name }: Document) => name)
      for (const { volumeMounts } of spec.containers)
        expect(volumeMounts.map(({ name }: Document) => name)).toEqual(volumes)
    }
  })

  it('set only variables of the service, to values that it accepts, and a key that it refuses', () => {
    const [{ data }] = ofKind('ConfigMap')
    for (const container of containers) {
      const { MALLOC_ARENA_MAX: _, ...set } = environmentOf(container)
      expect(Object.keys({ ...set, ...data }).filter((name) => !variables.includes(name))).toEqual([])
      const { DATABASE_URL_FILE: _u, ENCRYPTION_KEY_FILE: _k, ...values } = { ...data, ...set }
      const given = { ...values, DATABASE_URL: stringData['database-url'], REDIS_URL: stringData['redis-url'] }
      const key = Buffer.alloc(32).toString('base64')
      expect(readConfig({ ...given, ENCRYPTION_KEY: key })).toMatchObject({ migrate: false, processes: 1 })
      expect(() => readConfig({ ...given, ENCRYPTION_KEY: stringData['encryption-key'] })).toThrow(
        /ENCRYPTION_KEY: must be/,
      )
    }
    const roles = services.flatMap(({ env }) => readConfig({ ROLES: env.ROLES ?? '' }).roles)
    expect(roles.sort()).toEqual(['core', 'dashboard', 'jobs', 'links'])
  })

  it('stop as the service stops: it serves for STOP_LEAD_S and ends within 5 s', () => {
    for (const { deployment, container, env } of services) {
      const leadS = Number(env.STOP_LEAD_S)
      expect(deployment.spec.template.spec.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(leadS + 5 + 5)
      // An unready pod is out of the Service before its port closes.
      expect(leadS).toBeGreaterThan(container.readinessProbe.periodSeconds * container.readinessProbe.failureThreshold)
      expect(container.lifecycle).toBeUndefined()
      expect(deployment.spec.strategy.rollingUpdate).toEqual({ maxUnavailable: 0, maxSurge: 1 })
    }
  })

  it('keep a pod while a node is drained, and let the drain go on', () => {
    for (const { deployment, budget } of services) {
      expect(budget.spec.maxUnavailable).toBeGreaterThan(0)
      expect(budget.spec.maxUnavailable).toBeLessThan(replicasOf(deployment))
    }
    for (const { spec } of ofKind('HorizontalPodAutoscaler')) {
      expect(spec.minReplicas).toBeLessThan(spec.maxReplicas)
      // Otherwise each `kubectl apply` would set the replicas back.
      const target = deployments.find(({ metadata }) => metadata.name === spec.scaleTargetRef.name)
      expect(target.spec.replicas).toBeUndefined()
    }
  })

  it('deny all connections but those of clients, metrics, DNS, stores and alerts', () => {
    const policy = (name: string) => ofKind('NetworkPolicy').find(({ metadata }) => metadata.name === name)
    expect(policy('deny-all').spec).toEqual({ podSelector: {}, policyTypes: ['Ingress', 'Egress'] })
    for (const { spec } of ofKind('NetworkPolicy'))
      for (const { from = [], to = [], ports } of [...(spec.ingress ?? []), ...(spec.egress ?? [])])
        expect([[...from, ...to].length > 0, ports.length > 0]).toEqual([true, true])
    const open = policy('stores').spec.egress[0].ports.map(({ port }: Document) => port)
    for (const url of [stringData['database-url'], ...stringData['redis-url'].split(',')])
      expect(open).toContain(Number(new URL(url).port))
  })

  it('open fewer connections to PostgreSQL than its 97, or go through a pooler', () => {
    const { port } = new URL(stringData['database-url'])
    const pods = deployments.reduce((sum, one) => sum + replicasOf(one) + one.spec.strategy.rollingUpdate.maxSurge, 1)
    const perPod = Number(configTable().find(({ name }) => name === 'DATABASE_POOL')?.fallback)
    expect(port === '6432' || pods * perPod <= 97).toBe(true)
  })
})

it('the first step of docs/deployment.md names the image of the registry in every container', () => {
  const [, step = ''] = /```sh kubernetes\n([\s\S]*?)```/.exec(read('docs/deployment.md')) ?? []
  const folder = mkdtempSync(join(tmpdir(), 'keystride-step-'))
  symlinkSync(join(root, 'deploy'), join(folder, 'deploy'))
  execFileSync('bash', ['-euc', step], { cwd: folder })
  const images = rendered(join(folder, 'keystride/overlays/small'))
    .flatMap(({ spec }) => spec?.template?.spec.containers ?? [])
    .map(({ image }) => image)
  expect(images).toEqual(Array(2).fill(`registry.example.org/keystride:${version}`))
  rmSync(folder, { recursive: true })
})
