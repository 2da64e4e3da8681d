import { existsSync, statfsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { keyUses } from '../../storage/crypto/key-uses.js'
import type { JobFacts, OutboxFacts, RedisNodeFacts, StoredKey } from '../../storage/inspection.js'
import type { KeyRing } from '../../storage/key-ring.js'
import { count, type Finding, findingsOf, size, span } from './finding.js'

const redis = findingsOf('redis')
const keys = findingsOf('keys')
const jobs = findingsOf('jobs')
const alerts = findingsOf('alerts')
const disk = findingsOf('disk')

export function checkRedisNodes(nodes: readonly RedisNodeFacts[], cluster: boolean): Finding[] {
  const masters = nodes.filter(({ role }) => role === 'master').length
  const shape = cluster
    ? `A cluster of ${count(masters, 'master')} and ${count(nodes.length - masters, 'replica')}`
    : 'Redis'
  return [
    redis.ok(`${shape} answers, version ${[...new Set(nodes.map(({ version }) => version))].join(', ')}.`),
    ...(cluster && masters === nodes.length
      ? [redis.warning('No master of the cluster has a replica.', 'Add replicas: a lost master ends its sessions.')]
      : []),
    ...nodes.flatMap(checkRedisNode),
  ]
}

function checkRedisNode({ usedBytes, limitBytes, policy, evictedKeys, linkDown, unfit }: RedisNodeFacts): Finding[] {
  const findings: Finding[] = []
  if (unfit !== null) findings.push(redis.problem(`${unfit}.`, 'The service does not start until this is changed.'))
  else if (policy !== 'noeviction' && policy !== '')
    findings.push(
      redis.warning(
        `maxmemory-policy is ${policy}: once maxmemory is set, Redis forgets used-up attempts.`,
        'Set maxmemory-policy noeviction.',
      ),
    )
  if (evictedKeys > 0)
    findings.push(
      redis.warning(`${count(evictedKeys, 'key')} evicted since Redis started.`, 'Set maxmemory-policy noeviction.'),
    )
  if (limitBytes === 0)
    findings.push(
      redis.note(`Memory use is ${size(usedBytes)} without a limit.`, 'Set maxmemory if others share the machine.'),
    )
  else if (usedBytes > 0.8 * limitBytes)
    findings.push(
      redis.warning(
        `Memory use is ${size(usedBytes)} of ${size(limitBytes)}; a full Redis refuses sign-ins.`,
        'Raise maxmemory.',
      ),
    )
  else findings.push(redis.ok(`Memory use is ${size(usedBytes)} of ${size(limitBytes)}.`))
  if (linkDown) findings.push(redis.warning('A replica has lost its master.', 'Check its network and log.'))
  return findings
}

export function checkKeys(stored: readonly StoredKey[], ring: KeyRing | null): Finding[] {
  const { ok, note, warning, problem } = keys
  if (stored.length === 0) return [note('There is no organization yet.', 'Run "keystride organization create".')]
  const uses = keyUses(stored, ring)
  const present = ring?.present().id
  const others = uses.filter(({ id, state }) => state === 'held' && id !== present)
  const findings: Finding[] = uses.flatMap(({ id, organizations, state }) => {
    const under = `the data keys of ${count(organizations, 'organization')}`
    if (state === 'missing')
      return [
        problem(
          `Encryption key ${id} is not held here, and ${under} open with it alone.`,
          'Add it to ENCRYPTION_KEY or ENCRYPTION_KEY_PREVIOUS: the service does not start without it.',
        ),
      ]
    if (state === 'wrong')
      return [
        problem(
          `Encryption key ${id} is held, but not all of ${under} open with it: they were altered.`,
          'Restore the rows of these organizations from a backup.',
        ),
      ]
    return []
  })
  const behind = others.reduce((sum, { organizations }) => sum + organizations, 0)
  if (behind > 0)
    findings.push(
      warning(
        `The rotation of the encryption key is not complete: ${behind} of ${count(stored.length, 'organization')} are under a previous key.`,
        'Run "keystride key rotate".',
      ),
    )
  const unused = (ring?.held() ?? []).filter(({ id }) => id !== present && uses.every((use) => use.id !== id))
  if (unused.length > 0)
    findings.push(
      note(
        `No organization is under previous key ${unused.map(({ id }) => id).join(', ')}.`,
        'Remove it from ENCRYPTION_KEY_PREVIOUS once every process has the present key; keep it as long as its backups.',
      ),
    )
  return findings.some(({ level }) => level === 'problem')
    ? findings
    : [ok(`The data keys of all ${count(stored.length, 'organization')} open.`), ...findings]
}

/** Queues are read at least once a minute. */
const WAITS_S = 5 * 60
const WAITS_PROBLEM_S = 3600
/** Retention runs every six hours. */
const RETENTION_S = 13 * 3600

export function checkJobs({ queues, stuckExports }: JobFacts): Finding[] {
  const { ok, note, warning, problem } = jobs
  const findings = queues.flatMap(({ queue, waiting, failed, oldestWaitingS }) => {
    const late = `${count(waiting, 'job')} of ${queue} waiting, the oldest for ${span(oldestWaitingS)}.`
    const advice = 'Start a process with the role jobs, and read its log.'
    const waits = oldestWaitingS > WAITS_PROBLEM_S ? [problem(late, advice)] : [warning(late, advice)]
    return [
      ...(oldestWaitingS > WAITS_S ? waits : []),
      ...(failed > 0
        ? [
            warning(
              `${count(failed, 'job')} of ${queue} failed in the last two days.`,
              'Read the log for "a job failed".',
            ),
          ]
        : []),
    ]
  })
  const retentionS = queues.find(({ queue }) => queue === 'retention')?.lastSuccessS ?? null
  if (retentionS === null)
    findings.push(
      note(
        'No deletion of expired rows (retention) has succeeded in the last days.',
        'If the service has run for more than six hours, start a process with the role jobs.',
      ),
    )
  else if (retentionS > RETENTION_S)
    findings.push(
      warning(
        `The last deletion of expired rows (retention) was ${span(retentionS)} ago, and is due every 6 h.`,
        'Start a process with the role jobs, and read its log.',
      ),
    )
  if (stuckExports > 0)
    findings.push(
      warning(`${count(stuckExports, 'export')} stuck: no process writes them.`, 'Start a process with the role jobs.'),
    )
  return findings.length > 0 ? findings : [ok(`No job is late, and retention ran ${span(retentionS ?? 0)} ago.`)]
}

const OVERDUE_S = 15 * 60

export function checkOutbox({ waiting, overdueS, channels }: OutboxFacts): Finding[] {
  const { ok, warning } = alerts
  const findings = channels.flatMap(({ organizationId, channel, settings, failures, closed }) => {
    const name = `Channel ${channel} of organization ${organizationId}`
    if (settings === null) return [warning(`${name} has settings that this version does not read.`, 'Set it again.')]
    return closed
      ? [
          warning(
            `${name} is closed after ${count(failures, 'failure')} in a row.`,
            'Test it in the console, and correct it.',
          ),
        ]
      : []
  })
  if (overdueS > OVERDUE_S)
    findings.push(
      warning(
        `${count(waiting, 'alert')} waiting, the oldest overdue for ${span(overdueS)}.`,
        'Start a process with the role jobs, and look at the closed channels.',
      ),
    )
  return findings.length > 0
    ? findings
    : [ok(`${count(waiting, 'alert')} waiting, and none of ${count(channels.length, 'channel')} is closed.`)]
}

/** A folder, and its name in the finding. */
interface NamedFolder {
  readonly name: string
  readonly folder: string
}

const FREE_WARNING = 0.15
const FREE_PROBLEM = 0.05

/** Checks the free space of the file system of a folder; of its nearest existing parent if the folder does not exist yet. */
export function checkDisk({ name, folder }: NamedFolder): Finding {
  let at = resolve(folder)
  while (!existsSync(at) && dirname(at) !== at) at = dirname(at)
  try {
    const { bavail, blocks, bsize } = statfsSync(at)
    return spaceOf(name, bavail * bsize, blocks * bsize)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException // what statfsSync throws
    return disk.note(`The free space of ${name} could not be read (${code}).`, 'Check it on its machine.')
  }
}

/** `total` is 0 for a file system that reports no size. */
export function spaceOf(name: string, free: number, total: number): Finding {
  if (total === 0) return disk.note(`The file system of ${name} reports no size.`, 'Check it on its machine.')
  const text = `${name} has ${size(free)} free, ${Math.floor((100 * free) / total)} %.`
  if (free < FREE_PROBLEM * total) return disk.problem(text, 'Free space: a full disk stops the database.')
  return free < FREE_WARNING * total ? disk.warning(text, 'Free space, or add some.') : disk.ok(text)
}
