import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { configTable, readConfig } from '../../src/process/config.js'
import { ALLOCATOR, HEAP_FLAGS } from '../../src/process/heap.js'

const require = createRequire(import.meta.url)
const root = fileURLToPath(new URL('../..', import.meta.url))
const read = (file: string) => readFileSync(join(root, file), 'utf8')
const { version }: { version: string } = JSON.parse(read('package.json'))
const variables = configTable().map(({ name }) => name)

// biome-ignore lint/suspicious/noExplicitAny: the types of kubernetes-models check the documents below
type Document = any

const parsed = (text: string, yaml: '1.1' | '1.2'): Document[] =>
  parseAllDocuments(text, { version: yaml, strict: true }).map((document) => {
    expect(document.errors).toEqual([])
    return document.toJS()
  })

/** The documents of an overlay that `kubectl apply -f` takes: those of its .yaml files in order. */
function documentsOf(overlay: string): Document[] {
  const folder = `deploy/kubernetes/overlays/${overlay}`
  return readdirSync(join(root, folder))
    .filter((name) => name.endsWith('.yaml'))
    .sort()
    .flatMap((name) => parsed(read(`${folder}/${name}`), '1.2'))
}
const secretOf = (overlay: string): Document =>
  parsed(read(`deploy/kubernetes/overlays/${overlay}/secret.yaml.example`), '1.2')[0]

/** The fault that the schema of Kubernetes finds in a document; null: it is valid. */
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

describe.each(OVERLAYS)('the manifests of the overlay %s', (overlay) => {
  const documents = documentsOf(overlay)
  const secret = secretOf(overlay)
  const ofKind = (kind: string): Document[] => documents.filter((document) => document.kind === kind)
  const deployments = ofKind('Deployment')
  const workloads = [...deployments, ...ofKind('Job')]
  const templates = workloads.map(({ spec }) => spec.template)
  const containers = templates.flatMap(({ spec }) => spec.containers)
  const autoscalerOf = (name: string) =>
    ofKind('HorizontalPodAutoscaler').find(({ spec }) => spec.scaleTargetRef.name === name)
  const replicasOf = ({ metadata, spec }: Document) =>
    spec.replicas ?? autoscalerOf(metadata.name)?.spec.minReplicas ?? 1
  const policy = (name: string) => ofKind('NetworkPolicy').find(({ metadata }) => metadata.name === name)
  const environmentOf = (container: Document): Record<string, string> =>
    Object.fromEntries(container.env.map(({ name, value }: Document) => [name, value]))

  it('are valid by the schema and the types of Kubernetes', () => {
    for (const document of [...documents, secret])
      expect([document.kind, document.metadata.name, fault(document)]).toEqual([
        document.kind,
        document.metadata.name,
        null,
      ])
    expect(faultsOfTypes([...documents, secret]).flat()).toEqual([])
  })

  it('mean the same for a parser of YAML 1.1, as kubectl has one, and of 1.2', () => {
    const folder = `deploy/kubernetes/overlays/${overlay}`
    for (const name of readdirSync(join(root, folder))) {
      const text = read(`${folder}/${name}`)
      expect(parsed(text, '1.1')).toEqual(parsed(text, '1.2'))
    }
  })

  it('begin with the namespace, in which all others are, each under its own name', () => {
    const [namespace, ...others] = documents
    expect(namespace).toMatchObject({ kind: 'Namespace', metadata: { name: 'keystride' } })
    expect(others.filter(({ metadata }) => metadata.namespace !== 'keystride')).toEqual([])
    const names = documents.map(({ kind, metadata }) => `${kind} ${metadata.name}`)
    expect(new Set(names).size).toBe(names.length)
    expect(ofKind('Secret')).toEqual([])
  })

  it('run pods that the level restricted admits, and without a token', () => {
    expect(documents[0].metadata.labels['pod-security.kubernetes.io/enforce']).toBe('restricted')
    for (const { spec } of templates) {
      expect(spec.securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } })
      expect([spec.hostNetwork, spec.hostPID, spec.hostIPC, spec.initContainers]).toEqual(Array(4).fill(undefined))
      expect(spec.automountServiceAccountToken).toBe(false)
      expect(ofKind('ServiceAccount').map(({ metadata }) => metadata.name)).toContain(spec.serviceAccountName)
      const kinds = spec.volumes.flatMap(({ name: _, ...kind }: Document) => Object.keys(kind))
      expect(kinds.filter((kind: string) => !['secret', 'configMap', 'emptyDir'].includes(kind))).toEqual([])
    }
    for (const container of containers) {
      expect(container.securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      })
      expect(container.resources.requests).toMatchObject({ cpu: expect.anything(), memory: expect.anything() })
      expect(container.resources.limits).toEqual({ memory: expect.anything() })
    }
  })

  it('run the image of the Dockerfile as its user, by a file that it has', () => {
    const dockerfile = read('Dockerfile')
    const user = Number(/^USER (\d+):/m.exec(dockerfile)?.[1])
    const folder = dockerfile
      .match(/^WORKDIR (.*)$/gm)
      ?.at(-1)
      ?.replace('WORKDIR ', '')
    for (const { spec } of templates) expect(spec.securityContext).toMatchObject({ runAsUser: user, fsGroup: user })
    for (const { image, command } of containers) {
      expect(image).toBe(`keystride:${version}`)
      const program = command.find((word: string) => word.endsWith('.mjs'))
      expect(program.startsWith(`${folder}/bin/`)).toBe(true)
      expect(existsSync(join(root, program.replace(`${folder}/`, '')))).toBe(true)
    }
    expect(dockerfile).toMatch(/^COPY bin bin$/m)
  })

  it('give a single process the flags that the service gives to several', () => {
    for (const { spec } of deployments) {
      const [container] = spec.template.spec.containers
      expect(container.command.slice(1, -2)).toEqual(HEAP_FLAGS)
      expect(environmentOf(container)).toMatchObject({ ...ALLOCATOR, PROCESSES: '1', SCORING: 'inline' })
    }
  })

  it('select by labels that the pods have', () => {
    const pods = templates.map(({ metadata }) => metadata.labels)
    const matching = (selector: Record<string, string>) =>
      pods.filter((labels) => Object.entries(selector).every(([name, value]) => labels[name] === value)).length
    for (const { spec, metadata } of deployments) {
      expect(spec.template.metadata.labels).toMatchObject(spec.selector.matchLabels)
      expect(matching(spec.selector.matchLabels)).toBe(1)
      for (const { labelSelector } of spec.template.spec.topologySpreadConstraints)
        expect(labelSelector.matchLabels).toEqual(spec.selector.matchLabels)
      const [budget] = ofKind('PodDisruptionBudget').filter((one) => one.metadata.name === metadata.name)
      expect(budget.spec.selector).toEqual(spec.selector)
    }
    for (const { spec } of ofKind('Service')) expect(matching(spec.selector)).toBeGreaterThan(0)
    for (const { spec } of ofKind('NetworkPolicy')) {
      expect(Object.keys(spec.podSelector).filter((key) => key !== 'matchLabels')).toEqual([])
      expect(matching(spec.podSelector.matchLabels ?? {})).toBeGreaterThan(0)
    }
    for (const { spec } of ofKind('HorizontalPodAutoscaler'))
      expect(deployments.map(({ metadata }) => metadata.name)).toContain(spec.scaleTargetRef.name)
  })

  it('name ports that the containers have, and the service serves on them', () => {
    for (const { spec } of deployments) {
      const [container] = spec.template.spec.containers
      const ports = Object.fromEntries(
        container.ports.map(({ name, containerPort }: Document) => [name, containerPort]),
      )
      const { PORT, METRICS_PORT } = environmentOf(container)
      expect(ports).toEqual({ http: Number(PORT), metrics: Number(METRICS_PORT) })
      for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe'])
        expect(ports[container[probe].httpGet.port]).toBe(Number(PORT))
      expect(container.readinessProbe.httpGet.path).toBe('/readyz')
      expect([container.startupProbe, container.livenessProbe].map(({ httpGet }) => httpGet.path)).toEqual([
        '/livez',
        '/livez',
      ])
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
    const maps = ofKind('ConfigMap').map(({ metadata }) => metadata.name)
    for (const { env, envFrom } of containers) {
      expect(envFrom.map(({ configMapRef }: Document) => configMapRef.name)).toEqual(maps)
      const keys = env.flatMap(({ valueFrom }: Document) => (valueFrom === undefined ? [] : [valueFrom.secretKeyRef]))
      expect(keys.length).toBeGreaterThan(0)
      for (const { name, key, optional } of keys) {
        expect(name).toBe(secret.metadata.name)
        if (!optional) expect(Object.keys(secret.stringData)).toContain(key)
      }
    }
    for (const { spec } of templates) {
      const mounted = spec.volumes.filter((volume: Document) => volume.secret !== undefined)
      expect(mounted).toHaveLength(1)
      expect(mounted[0].secret.secretName).toBe(secret.metadata.name)
      for (const { key, path } of mounted[0].secret.items) {
        expect(Object.keys(secret.stringData)).toContain(key)
        const places = spec.containers
          .map(environmentOf)
          .flatMap((values: Record<string, string>) => Object.values(values))
        expect(places).toContain(`/secrets/${path}`)
      }
      for (const { name, configMap } of spec.volumes)
        if (configMap !== undefined) expect([name, configMap.optional]).toEqual(['files', true])
      for (const { volumeMounts } of spec.containers)
        expect(volumeMounts.map(({ name }: Document) => name)).toEqual(spec.volumes.map(({ name }: Document) => name))
    }
  })

  it('set only variables of the service, to values that it accepts, and a key that it refuses', () => {
    const [{ data }] = ofKind('ConfigMap')
    for (const container of containers) {
      const { MALLOC_ARENA_MAX: _, ...set } = environmentOf(container)
      expect(Object.keys({ ...set, ...data }).filter((name) => !variables.includes(name))).toEqual([])
      const { DATABASE_URL_FILE: _u, ENCRYPTION_KEY_FILE: _k, ...values } = { ...data, ...set }
      const { stringData } = secret
      const given = { ...values, DATABASE_URL: stringData['database-url'], REDIS_URL: stringData['redis-url'] }
      const key = Buffer.alloc(32).toString('base64')
      expect(readConfig({ ...given, ENCRYPTION_KEY: key })).toMatchObject({ migrate: false, processes: 1 })
      expect(() => readConfig({ ...given, ENCRYPTION_KEY: stringData['encryption-key'] })).toThrow(
        /ENCRYPTION_KEY: must be/,
      )
    }
  })

  it('stop as the service stops: it serves for STOP_LEAD_S and ends within 5 s', () => {
    for (const { spec } of deployments) {
      const [container] = spec.template.spec.containers
      const leadS = Number(environmentOf(container).STOP_LEAD_S)
      expect(spec.template.spec.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(leadS + 5 + 5)
      // An unready pod is out of the Service before its port closes.
      expect(leadS).toBeGreaterThan(container.readinessProbe.periodSeconds * container.readinessProbe.failureThreshold)
      expect(container.lifecycle).toBeUndefined()
      expect(spec.strategy).toEqual({ type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } })
    }
  })

  it('keep a pod while a node is drained, and let the drain go on', () => {
    for (const deployment of deployments) {
      const [budget] = ofKind('PodDisruptionBudget').filter(
        ({ metadata }) => metadata.name === deployment.metadata.name,
      )
      expect(budget.spec.maxUnavailable).toBeGreaterThan(0)
      expect(budget.spec.maxUnavailable).toBeLessThan(replicasOf(deployment))
    }
    for (const { spec } of ofKind('HorizontalPodAutoscaler')) {
      expect(spec.minReplicas).toBeLessThan(spec.maxReplicas)
      const [target] = deployments.filter(({ metadata }) => metadata.name === spec.scaleTargetRef.name)
      // Otherwise each `kubectl apply` would set the replicas back.
      expect(target.spec.replicas).toBeUndefined()
    }
  })

  it('deny all connections but those of clients, metrics, DNS, stores and alerts', () => {
    expect(policy('deny-all').spec).toEqual({ podSelector: {}, policyTypes: ['Ingress', 'Egress'] })
    for (const { spec } of ofKind('NetworkPolicy'))
      for (const rule of [...(spec.ingress ?? []), ...(spec.egress ?? [])]) {
        expect([...(rule.from ?? []), ...(rule.to ?? [])].length).toBeGreaterThan(0)
        expect(rule.ports.length).toBeGreaterThan(0)
      }
    const open = policy('stores').spec.egress[0].ports.map(({ port }: Document) => port)
    const urls = [secret.stringData['database-url'], ...secret.stringData['redis-url'].split(',')]
    for (const url of urls) expect(open).toContain(Number(new URL(url).port))
  })

  it('give every role but single sign-on to a Deployment', () => {
    const roles = deployments.flatMap(({ spec }) => {
      const { ROLES = '' } = environmentOf(spec.template.spec.containers[0])
      return readConfig({ ROLES }).roles
    })
    expect(roles.sort()).toEqual(['core', 'dashboard', 'jobs', 'links'])
  })

  it('open fewer connections to PostgreSQL than its 97, or go through a pooler', () => {
    const { port } = new URL(secret.stringData['database-url'])
    const pods = deployments.reduce((sum, one) => sum + replicasOf(one) + one.spec.strategy.rollingUpdate.maxSurge, 1)
    const perPod = Number(configTable().find(({ name }) => name === 'DATABASE_POOL')?.fallback)
    expect(port === '6432' || pods * perPod <= 97).toBe(true)
  })
})

describe('the first step of docs/deployment.md', () => {
  it('names the image of the registry in every container', () => {
    const [, step = ''] = /```sh kubernetes\n([\s\S]*?)```/.exec(read('docs/deployment.md')) ?? []
    const folder = mkdtempSync(join(tmpdir(), 'keystride-step-'))
    symlinkSync(join(root, 'deploy'), join(folder, 'deploy'))
    execFileSync('bash', ['-euc', step], { cwd: folder })
    const images = readdirSync(join(folder, 'keystride'))
      .map((name) => readFileSync(join(folder, 'keystride', name), 'utf8'))
      .flatMap((text) => [...text.matchAll(/^ *image: (.*)$/gm)].map(([, image]) => image))
    expect(images).toEqual(Array(2).fill(`registry.example.org/keystride:${version}`))
    rmSync(folder, { recursive: true })
  })
})

describe('the check of manifests', () => {
  const [deployment] = documentsOf('small').filter(({ kind }) => kind === 'Deployment')
  const changed = (change: (document: Document) => void): Document => {
    const copy = structuredClone(deployment)
    change(copy)
    return copy
  }

  it('refuses values of another type, kind or form', () => {
    const wrong = [
      changed(({ spec }) => {
        spec.replicas = 'two'
      }),
      changed(({ spec }) => {
        spec.template.spec.containers[0].resources.limits.memory = '512 MB'
      }),
      changed(({ spec }) => {
        spec.template.spec.topologySpreadConstraints[0].whenUnsatisfiable = 'Never'
      }),
      changed(({ spec }) => {
        spec.selector = undefined
      }),
    ]
    for (const document of wrong) expect(fault(document)).toContain('data/spec')
    expect(fault(deployment)).toBeNull()
  })

  it('refuses unknown fields at any depth', () => {
    const wrong = [
      changed(({ spec }) => {
        spec.replica = 2
      }),
      changed(({ spec }) => {
        spec.template.spec.containers[0].livenessprobe = {}
      }),
      changed(({ spec }) => {
        spec.template.spec.containers[0].securityContext.capabilities.drops = ['ALL']
      }),
    ]
    const faults = faultsOfTypes([...wrong, deployment])
    expect(faults.pop()).toEqual([])
    for (const found of faults) expect(found.join(' ')).toMatch(/known properties, and .*(replica|livenessprobe|drops)/)
  })
})
