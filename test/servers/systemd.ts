import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { until } from '../harness/patience.js'

const PROGRAM = '/lib/systemd/systemd'
const LOG = '/run/log-of-services'

/**
 * Null if `systemd-analyze` is installed, otherwise the reason to skip its tests. Throws instead under `REQUIRE_SYSTEMD=1`.
 */
export function whyNoSystemdAnalyze(): string | null {
  if (spawnSync('systemd-analyze', ['--version']).status === 0) return null
  return skipped("NO SYSTEMD: the units are not analyzed (install Debian's systemd)")
}

function skipped(line: string): string {
  if (process.env.REQUIRE_SYSTEMD === '1') throw new Error(line)
  return line
}

/**
 * Null if a systemd can be started here, in namespaces of its own, otherwise the reason to skip its tests. Throws instead for root under
 * `REQUIRE_SYSTEMD=1`.
 */
export function whyNoSystemd(): string | null {
  const group = `probe-${process.pid}`
  const mounts = () => spawnSync('unshare', ['-m', 'bash', '-ec', `${MOUNTS}\n${GROUP}`, 'bash', group]).status === 0
  if (existsSync(PROGRAM) && mounts() && removeGroup(group)) return null
  const line = "NO SYSTEMD: the units are not started (needs Debian's systemd, and root with the right to mount)"
  return process.getuid?.() === 0 ? skipped(line) : line
}

/** Script: changes of these folders stay in memory and in this namespace. */
const MOUNTS = `mount --make-rprivate /
for place in $(findmnt -rno TARGET | grep '^/run/' | tac); do umount "$place"; done
mount -t tmpfs -o mode=755 tmpfs /run
for folder in /etc /opt /usr/bin /tmp /var/tmp; do
  mkdir -p "/run/upper$folder" "/run/work$folder"
  mount -t overlay overlay -o "lowerdir=$folder,upperdir=/run/upper$folder,workdir=/run/work$folder" "$folder"
done`
/** A group of its own in the hierarchy of version 2, which is the root of the namespace that \`unshare -C\` creates. */
const GROUP = `mkdir /run/groups
mount -t cgroup2 cgroup2 /run/groups
mkdir "/run/groups/keystride-$1"
echo $$ >"/run/groups/keystride-$1/cgroup.procs"
umount /run/groups`
/** Script that removes the group. It fails while a process is in the group. */
const REMOVE = `mount -t tmpfs tmpfs /run
mkdir /run/groups
mount -t cgroup2 cgroup2 /run/groups
find "/run/groups/keystride-$1" -depth -type d -exec rmdir {} +`

const removeGroup = (group: string): boolean =>
  spawnSync('unshare', ['-m', 'bash', '-ec', REMOVE, 'bash', group]).status === 0

/** The first argument names the group, the second is the folder with the units, the others are pairs: place, what to mount there. */
const BOOT = `set -e
${MOUNTS}
${GROUP}
folder=$2
shift 2
while [ $# -gt 0 ]; do
  if [ -d "$2" ]; then mkdir -p "$1"; else mkdir -p "$(dirname "$1")"; touch "$1"; fi
  mount --bind "$2" "$1"
  shift 2
done
rm -rf /etc/systemd/system
mkdir /etc/systemd/system
exec unshare -p -f -C --mount-proc --kill-child=SIGKILL bash -ec '
  for place in $(findmnt -rno TARGET -R /sys/fs/cgroup | tac); do umount "$place"; done
  mount -t cgroup2 cgroup2 /sys/fs/cgroup
  # As systemd does on a machine; it passes credentials to a service by such mounts.
  mount --make-rshared /
  exec env -i container=other "PATH=$PATH" "SYSTEMD_UNIT_PATH=$0:/etc/systemd/system" ${PROGRAM} --system --unit=test.target --log-target=console' "$folder/units"
`

export interface Systemd {
  /** Runs a command as root in the namespaces of this systemd. */
  run(program: string, ...args: readonly string[]): { status: number | null; output: string }
  property(unit: string, name: string): string
  /** The output of systemd and of all services so far. */
  log(): string
  close(): Promise<void>
}

/**
 * Starts Debian's systemd as the first process of namespaces of its own. It knows the units of /etc/systemd/system, which is empty at
 * first, and the targets that they need. Files that it or its services write stay in its namespace; network and packages are those of this
 * machine. `binds` has files and folders of this machine by the path at which they are mounted. Every service writes to one log.
 */
export async function bootSystemd(binds: Readonly<Record<string, string>>): Promise<Systemd> {
  const folder = mkdtempSync(join(tmpdir(), 'keystride-systemd-'))
  mkdirSync(join(folder, 'units/service.d'), { recursive: true })
  const unit = (name: string, text: string) => writeFileSync(join(folder, 'units', name), text)
  for (const name of ['sysinit', 'basic', 'shutdown', 'network-online', 'multi-user'])
    unit(`${name}.target`, '[Unit]\nDefaultDependencies=no\n')
  unit('test.target', '[Unit]\nAllowIsolate=yes\n')
  unit('service.d/log.conf', `[Service]\nStandardOutput=append:${LOG}\nStandardError=inherit\n`)
  const group = String(process.pid)
  const pairs = Object.entries(binds).flat()
  const child = spawn('unshare', ['-m', 'bash', '-c', BOOT, 'bash', group, folder, ...pairs], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (said += chunk))
  const gone = once(child, 'exit')
  const first = () => readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').trim()
  const run = (program: string, ...args: readonly string[]) => {
    const inside = ['-t', first(), '-m', '-p', '-C', program, ...args]
    const { status, stdout, stderr } = spawnSync('nsenter', inside, { encoding: 'utf8' })
    return { status, output: stdout + stderr }
  }
  const systemd: Systemd = {
    run,
    property: (unit, name) => run('systemctl', 'show', unit, '--value', '-p', name).output.trim(),
    log: () => said + run('cat', LOG).output,
    async close() {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL')
      await gone
      await until(async () => removeGroup(group))
      rmSync(folder, { recursive: true, force: true })
    },
  }
  try {
    await until(async () => {
      if (child.exitCode !== null) throw new Error(`systemd did not start: ${said}`)
      return run('systemctl', 'is-active', 'test.target').output.trim() === 'active'
    })
  } catch (error) {
    await systemd.close()
    throw error
  }
  return systemd
}
