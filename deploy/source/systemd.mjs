// The units of deploy/systemd and the file of their settings.
import { EXAMPLES, placed } from './settings.mjs'

/** Folder of the installed package, and the node that runs it. An operator with other paths changes them in a drop-in. */
const COMMAND = '/usr/bin/node /opt/keystride/node_modules/keystride/bin/keystride.mjs'

/** The longest stop: STOP_LEAD_S of at most 60, 8 s for the stop itself, and 2 s for a loaded machine. */
const STOP_MOST_S = 60 + 8 + 2

const environment = () =>
  placed('systemd', 'fixed')
    .map(({ name, value }) => `Environment=${name}=${value}`)
    .join('\n')

const SETTINGS =
  () => `# Settings: keystride.env. The two secrets are files of root (mode 0600), which the service gets as credentials.
${environment()}
EnvironmentFile=/etc/keystride/keystride.env
LoadCredential=database-url:/etc/keystride/database-url
LoadCredential=encryption-key:/etc/keystride/encryption-key`

const HARDENING = `# A user that exists while the service runs. It may write only to its own /tmp.
DynamicUser=yes
UMask=0077
WorkingDirectory=/
ProtectSystem=strict
ProtectHome=yes
PrivateTmp=yes
PrivateDevices=yes
PrivateUsers=yes
# ProtectSystem leaves these writable.
InaccessiblePaths=-/dev/shm -/run/lock
ProtectProc=invisible
ProtectClock=yes
ProtectControlGroups=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
NoNewPrivileges=yes
CapabilityBoundingSet=
AmbientCapabilities=
KeyringMode=private
LockPersonality=yes
RemoveIPC=yes
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallFilter=~@privileged @resources
# V8 protects compiled code by memory keys, and the threads for security codes lower their own priority.
SystemCallFilter=@pkey setpriority
SystemCallErrorNumber=EPERM
# A core dump would hold keys and typing patterns.
LimitCORE=0
# MemoryDenyWriteExecute stays off: V8 compiles JavaScript and WebAssembly into pages that it then executes.
# ProcSubset stays at all: the number of cores and the free memory come from /proc/stat and /proc/meminfo.
# IPAddressDeny and IPAddressAllow are yours to add: the addresses of PostgreSQL, Redis, the proxy and the alert channels.`

export const serviceUnit = () => `# Keystride: the service. docs/deployment.md says how to install it.
[Unit]
Description=Keystride, authentication by typing
Wants=network-online.target keystride-migrate.service
After=network-online.target keystride-migrate.service postgresql.service redis-server.service
# The start needs PostgreSQL and Redis: it is tried again for as long as they are away.
StartLimitIntervalSec=0

[Service]
Type=exec
ExecStart=${COMMAND} serve
Restart=always
RestartSec=2
# The first process stops the others itself. It ends within STOP_LEAD_S (at most 60) and 8 s after SIGTERM.
KillMode=mixed
TimeoutStopSec=${STOP_MOST_S}
# If the kernel kills one of several processes for its memory, the first process restarts it.
OOMPolicy=continue
# A connection takes a file descriptor.
LimitNOFILE=65536
# About 200 MiB a process (docs/operations.md). By default there is a process for each core.
MemoryAccounting=yes
CPUAccounting=yes

${SETTINGS()}

${HARDENING}

[Install]
WantedBy=multi-user.target
`

export const migrateUnit =
  () => `# Keystride: migrates the database to the installed version. keystride.service starts it before itself.
# The service runs with MIGRATE=off: if the migration failed, it stops at an older schema, and is tried again.
[Unit]
Description=Keystride, migration of the database
Wants=network-online.target
After=network-online.target postgresql.service

[Service]
Type=oneshot
ExecStart=${COMMAND} migrate

${SETTINGS()}

${HARDENING}
`

/**
 * The settings of the service as lines of an environment file, each under its meaning.
 * @param {{ name: string, fallback: string, meaning: string }[]} table the configuration table of the service
 */
export function settingsFile(table) {
  const places = placed('systemd', 'setting')
  const lines = table.flatMap(({ name, fallback, meaning }) => {
    const place = places.find((one) => one.name === name)
    if (place === undefined) return []
    const line = place.value === undefined ? `#${name}=${EXAMPLES[name] ?? fallback}` : `${name}=${place.value}`
    return [`# ${meaning}`, line]
  })
  return `# Settings of keystride.service: /etc/keystride/keystride.env, owned by root, mode 0600. A line that begins with # is not set.
# The units set ${placed('systemd', 'fixed')
    .map(({ name }) => name)
    .join(', ')}.
${lines.join('\n')}
`
}
