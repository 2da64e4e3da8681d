import { ExpectedFault } from '../../base/expected-fault.js'
import { mayAlert } from '../../domain/alert-host.js'
import { httpServerOf, loadProvider, NODE_COST } from '../../http/provider.js'
import type { Config } from '../../process/config.js'
import { unknownVariables } from '../../process/unknown-variables.js'
import { TOUCH_ERRORS } from '../../scoring/touch-screens.js'
import { type Finding, findingsOf } from './finding.js'

const { ok, note, warning } = findingsOf('configuration')

/** File descriptors that the service needs for idle and silent connections (docs/operations.md). */
const OPEN_FILES = 65_536

/** The machine of the check. */
export interface Host {
  readonly cores: number
  /** Most open files of a process; null if it cannot be read. */
  readonly openFiles: number | null
}

/** Checks combinations of variables, each of which is valid by itself. `config` was read from `env`. */
export function checkConfiguration(env: NodeJS.ProcessEnv, config: Config, host: Host): Finding[] {
  const findings = [
    ...unknownVariables(env).map((line) => warning(`${line}.`, 'Correct the name, or remove the variable.')),
    ...checkStores(config, env),
    ...checkExposure(config),
    ...checkVerdicts(config),
    ...checkProcesses(config, host),
  ]
  return findings.length > 0 ? findings : [ok('Every variable is known, and no combination is dangerous.')]
}

/** Checks which HTTP server `HTTP_SERVER` gives on this machine. */
export function checkHttpServer({ httpServer }: Config): Finding {
  const server = findingsOf('HTTP server')
  try {
    const provider = loadProvider(httpServer)
    const found = `${httpServerOf(provider)} serves.`
    return provider.whyNot === null ? server.ok(found) : server.note(found, `${NODE_COST}: ${provider.whyNot}.`)
  } catch (error) {
    if (!(error instanceof ExpectedFault)) throw error
    return server.problem(`${error.message}.`, 'Set HTTP_SERVER=auto, or run a system that the binary supports.')
  }
}

function checkStores({ databaseUrl, redisUrl, demo, encryptionKey }: Config, env: NodeJS.ProcessEnv): Finding[] {
  const embedded = databaseUrl === null
  const findings: Finding[] = []
  if (embedded && (redisUrl !== null || env.ROLES))
    findings.push(
      warning(
        `${redisUrl === null ? 'ROLES' : 'REDIS_URL'} is set, but the embedded PostgreSQL serves this machine only.`,
        'Set DATABASE_URL if several machines serve.',
      ),
    )
  if (demo && !embedded)
    findings.push(
      warning(
        'DEMO=on offers to fill the database of DATABASE_URL with made-up people.',
        'Unset DEMO where real people sign in.',
      ),
    )
  findings.push(
    note(
      'No check sees whether a copy of the encryption key exists.',
      encryptionKey === null
        ? 'Keep a copy of KEYSTRIDE_DATA/encryption.key apart from the backups: without it no profile can be read.'
        : 'Keep a copy of ENCRYPTION_KEY apart from the backups: without it no profile can be read.',
    ),
  )
  return findings
}

/** Whether a host of a URL or a listening address is this machine only. */
export const isLoopback = (host: string): boolean => /^(localhost|127\.\d+\.\d+\.\d+|::1|\[::1\])$/.test(host)

function checkExposure({ host, metricsAt, publicUrl, alertHosts, readyNeedsStores }: Config): Finding[] {
  const findings: Finding[] = []
  if (metricsAt === null && !isLoopback(host))
    findings.push(
      warning(
        '/metrics is served without a key on the port of the APIs.',
        'Set METRICS_PORT to a port that only your monitoring reaches, or hide the path behind the proxy.',
      ),
    )
  if (metricsAt !== null && !isLoopback(metricsAt.host))
    findings.push(
      note(
        `/metrics is served without a key on ${metricsAt.host}:${metricsAt.port}.`,
        'Publish this port to your monitoring only.',
      ),
    )
  const { protocol, hostname } = new URL(publicUrl)
  if (protocol === 'http:' && !isLoopback(hostname))
    findings.push(warning('PUBLIC_URL begins with http://.', 'Serve people by https, and change PUBLIC_URL.'))
  if (isLoopback(hostname) && !isLoopback(host))
    findings.push(
      warning(
        `The links of hosted pages lead to ${hostname}, although the service listens on ${host}.`,
        'Set PUBLIC_URL to the address that browsers reach.',
      ),
    )
  if (['8.8.8.8', '10.0.0.1', '172.16.0.1', '192.168.0.1'].every((address) => mayAlert(address, alertHosts)))
    findings.push(
      warning(
        'ALERT_HOSTS permits every address, so an organization can make the service connect to any host.',
        'List the hosts of your mail servers, gateways and receivers.',
      ),
    )
  if (readyNeedsStores)
    findings.push(
      note(
        'READY_NEEDS_STORES=on takes every process out of the load balancer while a shared store is lost.',
        'Keep it only if one machine alone may lose the stores.',
      ),
    )
  return findings
}

function checkVerdicts({ replay, touchScreens }: Config): Finding[] {
  const findings: Finding[] = []
  if (replay === 'flag')
    findings.push(
      warning(
        'REPLAY=flag authenticates a copy of an earlier typing pattern.',
        'Set REPLAY=reject where people sign in.',
      ),
    )
  if (touchScreens === 'accept')
    findings.push(
      note(
        `TOUCH_SCREENS=accept scores patterns of phones and tablets, which the model does not know: ${TOUCH_ERRORS}.`,
        'Set TOUCH_SCREENS=refuse unless you measure your own error rates.',
      ),
    )
  return findings
}

function checkProcesses({ processes }: Config, { cores, openFiles }: Host): Finding[] {
  const findings: Finding[] = []
  if (processes > cores)
    findings.push(
      warning(`PROCESSES is ${processes} on ${cores} cores.`, `Set PROCESSES to ${cores} or less, or leave it unset.`),
    )
  if (processes < cores && processes === 1)
    findings.push(note(`One process serves on ${cores} cores.`, 'Unset PROCESSES to use all cores.'))
  if (openFiles === null)
    findings.push(
      note('The limit of open files could not be read.', `Give the service "ulimit -n" of ${OPEN_FILES} or more.`),
    )
  else if (openFiles < OPEN_FILES)
    findings.push(
      warning(
        `A process started here may open ${openFiles} files, and each connection takes one.`,
        `Give the service "ulimit -n" of ${OPEN_FILES} or more.`,
      ),
    )
  return findings
}
