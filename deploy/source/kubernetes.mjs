// The manifests of deploy/kubernetes/overlays: each overlay is a whole set, the files of base and the ones that this module writes.
import { ALLOCATOR, HEAP_FLAGS } from '../../build/src/process/heap.js'
import { EXAMPLES, METRICS_PORT, PORT, placed, STOP_LEAD_S } from './settings.mjs'

/** After SIGTERM a process ends within STOP_LEAD_S and 8 s; 2 s more are for a loaded node. */
const STOP_MOST_S = STOP_LEAD_S + 8 + 2

const indent = (text, columns) => text.replaceAll(/^(?=.)/gm, ' '.repeat(columns))

const labels = (name, component) => `app.kubernetes.io/name: ${name}
app.kubernetes.io/part-of: keystride
app.kubernetes.io/component: ${component}`

/**
 * The settings as a ConfigMap, each under its meaning; those without a value are comments.
 * @param {{ name: string, fallback: string, meaning: string }[]} table the configuration table of the service
 */
export function settings(table) {
  const places = placed('kubernetes', 'setting')
  const lines = table.flatMap(({ name, fallback, meaning }) => {
    const place = places.find((one) => one.name === name)
    if (place === undefined) return []
    const value = place.value ?? EXAMPLES[name] ?? fallback
    return [`# ${meaning}`, `${place.value === undefined ? '# ' : ''}${name}: "${value}"`]
  })
  return `# Your settings. A line that begins with # is not set. A change takes effect at the next start of the pods:
#   kubectl -n keystride rollout restart deployment
# The manifests set ${placed('kubernetes', 'fixed')
    .map(({ name }) => name)
    .join(', ')}.
apiVersion: v1
kind: ConfigMap
metadata:
  name: keystride
  namespace: keystride
data:
${indent(lines.join('\n'), 2)}
`
}

/** The Secret, with a key that the service refuses. */
export const secretExample = ({
  databaseUrl,
  redisUrl,
}) => `# The Secret of the service. kubectl does not apply a file of this name, so it never overwrites your values.
# docs/deployment.md has a command that creates the Secret without a file.
apiVersion: v1
kind: Secret
metadata:
  name: keystride
  namespace: keystride
type: Opaque
stringData:
  database-url: ${databaseUrl}
  redis-url: ${redisUrl}
  # 32 bytes in base64: openssl rand -base64 32
  encryption-key: change-me
  # Only during a rotation of the key:
  # encryption-key-previous: change-me
`

/** Environment of a container: the values that are set here, then the secrets. */
function environment(roles) {
  const values = placed('kubernetes', 'fixed').map((place) =>
    place.name === 'ROLES' ? { ...place, value: roles } : place,
  )
  const set = values
    .filter(({ value }) => value !== null)
    .map(({ name, value }) => `- name: ${name}\n  value: "${value}"`)
  const taken = placed('kubernetes', 'secret').map(
    ({ name, key, optional }) => `- name: ${name}
  valueFrom:
    secretKeyRef:
      name: keystride
      key: ${key}${optional ? '\n      optional: true' : ''}`,
  )
  const allocator = Object.entries(ALLOCATOR).map(([name, value]) => `- name: ${name}\n  value: "${value}"`)
  return [...set, ...allocator, ...taken].join('\n')
}

/** Fields of a pod and of its container that all workloads have. */
const POD = `serviceAccountName: keystride
automountServiceAccountToken: false
# Otherwise the container gets variables such as KEYSTRIDE_PORT for each Service.
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 1000
  runAsGroup: 1000
  fsGroup: 1000
  seccompProfile:
    type: RuntimeDefault
volumes:
  - name: secrets
    secret:
      secretName: keystride
      # 0440 as a decimal number: parsers of YAML differ about octal ones.
      defaultMode: 288
      items:
        - key: database-url
          path: database-url
        - key: encryption-key
          path: encryption-key
  # Certificates and address ranges that settings name. A database of locations is too large: build an image that has it.
  - name: files
    configMap:
      name: keystride-files
      optional: true
  - name: tmp
    emptyDir:
      sizeLimit: 64Mi`

const container = ({ image, roles, command, cpu, memory }) => `image: ${image}
command: ${JSON.stringify(command)}
envFrom:
  - configMapRef:
      name: keystride
env:
${indent(environment(roles), 2)}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
# No limit of processor time: a throttled process answers late, and the requests already share a busy node fairly.
resources:
  requests:
    cpu: ${cpu}
    memory: ${memory.request}
  limits:
    memory: ${memory.limit}
volumeMounts:
  - name: secrets
    mountPath: /secrets
    readOnly: true
  - name: files
    mountPath: /etc/keystride
    readOnly: true
  - name: tmp
    mountPath: /tmp`

const PROGRAM = '/srv/keystride/bin/keystride.mjs'
const memory = { request: '256Mi', limit: '512Mi' }

/** The Job that migrates the database; its name has the version, because a Job cannot be changed. */
export const migration = ({
  image,
  version,
}) => `# Migrates the database to version ${version}. Idempotent. Apply it and wait for it before the Deployments of a new version: they run
# with MIGRATE=off and stop at an older schema, so they would be restarted until it is done.
apiVersion: batch/v1
kind: Job
metadata:
  name: keystride-migrate-${version.replaceAll('.', '-')}
  namespace: keystride
  labels:
${indent(labels('keystride-migrate', 'migration'), 4)}
spec:
  backoffLimit: 10
  ttlSecondsAfterFinished: 604800
  template:
    metadata:
      labels:
${indent(labels('keystride-migrate', 'migration'), 8)}
    spec:
      restartPolicy: Never
${indent(POD, 6)}
      containers:
        - name: migrate
${indent(container({ image, roles: null, command: ['node', PROGRAM, 'migrate'], cpu: '100m', memory }), 10)}
`

const probes = `# /readyz stays 200 while a store is away, so that clients get the answer of the API.
startupProbe:
  httpGet: { path: /livez, port: http }
  periodSeconds: 2
  failureThreshold: 60
livenessProbe:
  httpGet: { path: /livez, port: http }
  periodSeconds: 5
  timeoutSeconds: 3
  failureThreshold: 3
readinessProbe:
  httpGet: { path: /readyz, port: http }
  periodSeconds: 2
  timeoutSeconds: 2
  failureThreshold: 2`

const spread = (name, key) => `- maxSkew: 1
  topologyKey: ${key}
  whenUnsatisfiable: ScheduleAnyway
  labelSelector:
    matchLabels:
      app.kubernetes.io/name: ${name}
  matchLabelKeys: [pod-template-hash]`

/** A Deployment and its PodDisruptionBudget. `replicas` null: the HorizontalPodAutoscaler sets them. */
export const workload = ({ name, note, image, roles, replicas, cpu }) => `# ${note}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: ${name}
  namespace: keystride
  labels:
${indent(labels(name, 'service'), 4)}
spec:
${replicas === null ? '  # The HorizontalPodAutoscaler sets the replicas.' : `  replicas: ${replicas}`}
  revisionHistoryLimit: 3
  selector:
    matchLabels:
      app.kubernetes.io/name: ${name}
  strategy:
    type: RollingUpdate
    rollingUpdate:
      maxUnavailable: 0
      maxSurge: 1
  template:
    metadata:
      labels:
${indent(labels(name, 'service'), 8)}
    spec:
      # A stopping pod answers /readyz with 503 and serves for STOP_LEAD_S (${STOP_LEAD_S} s) while the proxies forget it, then ends within 8 s.
      # The process does this itself, so there is no preStop hook.
      terminationGracePeriodSeconds: ${STOP_MOST_S}
      topologySpreadConstraints:
${indent(spread(name, 'kubernetes.io/hostname'), 8)}
${indent(spread(name, 'topology.kubernetes.io/zone'), 8)}
${indent(POD, 6)}
      containers:
        - name: keystride
${indent(container({ image, roles, command: ['node', ...HEAP_FLAGS, PROGRAM, 'serve'], cpu, memory }), 10)}
          ports:
            - name: http
              containerPort: ${PORT}
            - name: metrics
              containerPort: ${METRICS_PORT}
${indent(probes, 10)}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: ${name}
  namespace: keystride
spec:
  maxUnavailable: 1
  selector:
    matchLabels:
      app.kubernetes.io/name: ${name}
`

/** Replicas of a Deployment by the processor time that its pods use. */
export const autoscaler = ({ name, least, most }) => `---
# By processor time: a sign-in costs a process about twice the processor time that it costs PostgreSQL, and each pod is one process with
# one event loop, so a pod that uses one core is full (docs/scaling.md). 70 % leaves room until a new pod serves.
# keystride_http_requests_waiting is the other measure: it is 0 until a pod is full, so it shows overload and not load. With an
# adapter for custom metrics, add it as a second one; the larger result counts. No measurement behind its value.
#   - type: Pods
#     pods:
#       metric:
#         name: keystride_http_requests_waiting
#       target:
#         type: AverageValue
#         averageValue: "8"
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  name: ${name}
  namespace: keystride
spec:
  scaleTargetRef:
    apiVersion: apps/v1
    kind: Deployment
    name: ${name}
  minReplicas: ${least}
  maxReplicas: ${most}
  metrics:
    - type: Resource
      resource:
        name: cpu
        target:
          type: Utilization
          averageUtilization: 70
  behavior:
    scaleUp:
      stabilizationWindowSeconds: 0
      policies:
        - type: Percent
          value: 100
          periodSeconds: 30
    scaleDown:
      stabilizationWindowSeconds: 600
      policies:
        - type: Pods
          value: 1
          periodSeconds: 60
`
