// The panels of the dashboard, by row. dashboard.mjs makes the dashboard of them.
// A panel: [title, unit, description, options, ...[query, legend]]. The description says what the panel shows and what to do.

/** The series of the chosen job and machines; `more` narrows them. */
const of = (metric, more = '') => `${metric}{job=~"$job", instance=~"$instance"${more === '' ? '' : `, ${more}`}}`
const rate = (metric, more) => `rate(${of(metric, more)}[$__rate_interval])`
const sum = (labels, expr) => (labels === '' ? `sum(${expr})` : `sum by (${labels}) (${expr})`)
const quantile = (q, metric, more = '', labels = '') =>
  `histogram_quantile(${q}, ${sum(labels === '' ? 'le' : `${labels}, le`, rate(`${metric}_bucket`, more))})`
/** The share of `part` in `whole`; 0 where there is no series of `part` yet. */
const share = (part, whole) => `(${sum('', part)} or vector(0)) / ${sum('', whole)}`
const quantiles = (metric, more) => [0.5, 0.95, 0.99].map((q) => [quantile(q, metric, more), `p${100 * q}`])
/** Every process reports the same gauges of background work. */
const max = (labels, metric, more) =>
  labels === '' ? `max(${of(metric, more)})` : `max by (${labels}) (${of(metric, more)})`

const REQUESTS = 'keystride_http_requests_total'
const LATENCY = 'keystride_http_request_duration_seconds'
const VERDICTS = 'keystride_verdicts_total'
const coreErrors = share(rate(REQUESTS, 'api="core", status_class="5xx"'), rate(REQUESTS, 'api="core"'))
const verdictShare = (action) =>
  share(rate(VERDICTS, `method="biometric", action="${action}"`), rate(VERDICTS, 'method="biometric"'))

const now = [
  [
    'Machines that answer',
    'short',
    'Machines that Prometheus can scrape. If one is missing: check /livez and its log.',
    { stat: true },
    [`sum(${of('up')})`, ''],
  ],
  [
    'Stores out of reach',
    'short',
    '1 while a process cannot reach PostgreSQL or Redis. Restore the store: calls get 503 until then.',
    { stat: true, crit: 1 },
    [max('', 'keystride_degraded'), ''],
  ],
  [
    'Core calls with a 5xx',
    'percentunit',
    'The share of core calls that failed. The messages of the answers name the cause.',
    { stat: true, warn: 0.001, crit: 0.01 },
    [coreErrors, ''],
  ],
  [
    'p99 of core calls',
    's',
    'The time that one of a hundred core calls exceeds. If it is high, compare stores, event loop and scoring below.',
    { stat: true, warn: 0.25, crit: 0.5 },
    [quantile(0.99, LATENCY, 'api="core"'), ''],
  ],
  [
    'Sign-ins per second',
    'reqps',
    'Recorded attempts. If it drops without a reason, check the applications that call the service.',
    { stat: true },
    [sum('', rate(VERDICTS)), ''],
  ],
  [
    'Alerts that fire',
    'short',
    'Alerts of keystride.rules.yml. The description of each says what to do.',
    { stat: true, crit: 1 },
    ['count(ALERTS{job=~"$job", alertname=~"Keystride.*", alertstate="firing"}) or vector(0)', ''],
  ],
]

const signIns = [
  [
    'Sign-ins by verdict and reason',
    'reqps',
    'Recorded attempts by action and reason. If block grows, see the rows of attacks and the confidence.',
    { stack: true },
    [sum('action, reason', rate(VERDICTS)), '{{action}} {{reason}}'],
  ],
  [
    'Challenges and blocks',
    'percentunit',
    'Their share of the attempts by typing. If it jumps after a change of policy, page or build, return to the previous one.',
    {},
    [verdictShare('challenge'), 'challenge'],
    [verdictShare('block'), 'block'],
  ],
  [
    'Sign-ins by method',
    'reqps',
    'Typing or security code. If codes grow, people fail by typing: check the confidence.',
    { stack: true },
    [sum('method', rate(VERDICTS)), '{{method}}'],
  ],
  [
    'Confidence of attempts by typing',
    'percentunit',
    'Bright cells have many attempts. A band that sinks means strangers, or a changed recorder, page or model.',
    { heatmap: true },
    [sum('le', `increase(${of('keystride_attempt_confidence_bucket')}[$__rate_interval])`), '{{le}}'],
  ],
  [
    'Confidence, median and tenths',
    'percentunit',
    'If the median sinks by 0.15 for a day, see KeystrideConfidenceDrop in keystride.rules.yml.',
    {},
    ...[0.1, 0.5, 0.9].map((q) => [quantile(q, 'keystride_attempt_confidence'), `p${100 * q}`]),
  ],
  [
    'Scoring',
    's',
    'From a pattern to its score, waiting for a scoring thread included. If p99 grows and p50 does not, add machines, or lower PROCESSES: each process then has more scoring threads.',
    {},
    ...quantiles('keystride_scoring_duration_seconds'),
  ],
]

const attacks = [
  [
    'Patterns by finding',
    'reqps',
    'Patterns of sign-ins and enrollments. If bot grows, find its networks in the console; if invalid grows, check the recorder.',
    { stack: true },
    [sum('finding', rate('keystride_patterns_total')), '{{finding}}'],
  ],
  [
    'Replayed patterns',
    'reqps',
    'Attempts with a pattern seen before or an edited one. refused=false means that REPLAY does not reject them.',
    { stack: true },
    [sum('refused', rate('keystride_replays_total')), 'refused={{refused}}'],
  ],
  [
    'Locks',
    'reqps',
    'Locks that began. If failures jump: an attack on many accounts, or a fault that shuts out their owners.',
    { stack: true },
    [sum('method, cause', rate('keystride_locks_total')), '{{method}} {{cause}}'],
  ],
]

const enrollment = [
  [
    'Reference patterns by outcome',
    'reqps',
    'Patterns offered to profiles. Many replay, closed or too-soon: check how the application enrolls.',
    { stack: true, half: true },
    [sum('outcome', rate('keystride_enrollment_patterns_total')), '{{outcome}}'],
  ],
  [
    'Profiles',
    'reqps',
    'Profiles completed, adapted by a clean sign-in, or reset. If resets grow, people do not get in: see the confidence.',
    { stack: true, half: true },
    [sum('change', rate('keystride_profile_changes_total')), '{{change}}'],
  ],
]

const byRoute = (q) => [
  `p${100 * q} by core route`,
  's',
  'By route template. If one route is slow and others are not, see what it waits for: codes are hashed, batches are slow by nature.',
  {},
  [quantile(q, LATENCY, 'api="core"', 'method, route'), '{{method}} {{route}}'],
]
const traffic = [
  [
    'Requests by API and status',
    'reqps',
    '4xx are mistakes of callers, 5xx of the service or its stores; aborted: the client left.',
    { stack: true },
    [sum('api, status_class', rate(REQUESTS)), '{{api}} {{status_class}}'],
  ],
  [
    'Core calls with a 5xx or aborted',
    'percentunit',
    'Above 0.1 % the objective of 99.9 % is at risk. If aborted grows, clients wait too long.',
    { warn: 0.001, crit: 0.0144 },
    [coreErrors, '5xx'],
    [share(rate(REQUESTS, 'api="core", status_class="aborted"'), rate(REQUESTS, 'api="core"')), 'aborted'],
  ],
  [
    'Refused because of overload',
    'reqps',
    'By lane, and requests that wait because their organization has its share. Add processes or machines; raise REQUESTS_AT_ONCE if processors idle while requests wait.',
    { stack: true },
    [sum('lane', rate('keystride_http_requests_shed_total')), '{{lane}}'],
    [sum('lane', rate('keystride_http_requests_held_total')), '{{lane}} waits for its share'],
  ],
  byRoute(0.5),
  byRoute(0.95),
  byRoute(0.99),
  [
    'Requests in flight and waiting',
    'short',
    'If requests wait all the time, the machine is at its limit: add processes or machines.',
    {},
    [sum('instance', of('keystride_http_requests_in_flight')), '{{instance}} in flight'],
    [sum('instance', of('keystride_http_requests_waiting')), '{{instance}} waiting'],
  ],
  [
    'Latency of core calls',
    's',
    'All core calls together. Compare with the time in the stores.',
    {},
    ...quantiles(LATENCY, 'api="core"'),
  ],
  [
    'Latency of the other APIs, p99',
    's',
    'Profile links and dashboard. Their work never delays a sign-in by more than its share of the slots.',
    {},
    [quantile(0.99, LATENCY, 'api!="core"', 'api'), '{{api}}'],
  ],
]

const processes = [
  [
    'Event loop delay',
    's',
    'How late the event loop is while requests are at work. Above 0.1 s the processors are short.',
    { warn: 0.05, crit: 0.1 },
    ...[0.5, 0.99].map((q) => [
      quantile(q, 'keystride_event_loop_delay_seconds', '', 'instance'),
      `{{instance}} p${100 * q}`,
    ]),
  ],
  [
    'Processor time',
    'short',
    'Cores that the processes of a machine use. If it nears the cores of the machine, add machines.',
    {},
    [sum('instance', rate('process_cpu_seconds_total')), '{{instance}}'],
  ],
  [
    'Memory',
    'bytes',
    'All processes of a machine. If it grows for a day and the cache does not, see KeystrideMemoryGrowth.',
    {},
    [sum('instance', of('process_resident_memory_bytes')), '{{instance}} resident'],
    [sum('instance', of('nodejs_heap_size_used_bytes')), '{{instance}} heap'],
  ],
  [
    'Processes',
    'short',
    'Processes that serve, and those that PROCESSES asks for. If one is missing, the log has the reason of each failed start.',
    { half: true },
    [sum('instance', of('keystride_processes')), '{{instance}}'],
    [sum('instance', of('keystride_processes_wanted')), '{{instance}} wanted'],
  ],
  [
    'Restarts within an hour',
    'short',
    'Starts by the supervisor, failed ones included, and any by processor time that fell. More than a rolling update: read the log before each start.',
    { half: true, warn: 2, crit: 4 },
    [sum('instance', `increase(${of('keystride_process_restarts_total')}[1h])`), '{{instance}} by the supervisor'],
    [sum('instance', `resets(${of('process_cpu_seconds_total')}[1h])`), '{{instance}} any'],
  ],
  [
    'Cache of people and scoring kernel',
    'bytes',
    'PROFILE_CACHE_MB limits the cache of each process. A kernel has a fixed size, one a scoring thread.',
    { half: true },
    [sum('instance', of('keystride_person_cache_bytes')), '{{instance}} cache'],
    [max('', 'keystride_scoring_memory_bytes'), 'kernel'],
  ],
  [
    'Open file descriptors',
    'percentunit',
    'The share of the limit in use. A silent connection costs one for 10 s: raise ulimit -n above 0.8.',
    { half: true, warn: 0.6, crit: 0.8 },
    [`sum by (instance) (${of('process_open_fds')}) / sum by (instance) (${of('process_max_fds')})`, '{{instance}}'],
  ],
]

const POSTGRES = 'keystride_postgres_call_duration_seconds'
const WAITS = 'keystride_postgres_wait_duration_seconds'
const COMMITS = 'keystride_group_commit_attempts'
const stores = [
  [
    'PostgreSQL calls',
    's',
    'Waiting for a connection included. If it grows, compare the waits; else look at the disk and locks of the database.',
    {},
    ...quantiles(POSTGRES),
  ],
  [
    'Redis calls',
    's',
    'If it grows, check the network to Redis and its slow log.',
    {},
    ...quantiles('keystride_redis_call_duration_seconds'),
  ],
  [
    'Failures of the stores',
    'reqps',
    'Calls that a store refused, lost or did not answer in time. The log has the SQLSTATE.',
    { crit: 0.1 },
    [sum('store', rate('keystride_store_failures_total')), '{{store}}'],
  ],
  [
    'Calls that wait for a connection',
    'percentunit',
    'Their share of the PostgreSQL calls. Above 0.1 with fast calls: raise DATABASE_POOL.',
    { warn: 0.1 },
    [share(rate(`${WAITS}_count`), rate(`${POSTGRES}_count`)), 'share'],
  ],
  [
    'Waits for a connection, p99',
    's',
    'Only calls that wait. If calls are slow, find out why first.',
    {},
    [quantile(0.99, WAITS), 'p99'],
  ],
  [
    'Attempts that share a commit',
    'short',
    'Grows with the load, at most 64. Many of 64 mean that the disk of the database is slow.',
    {},
    [`${sum('', rate(`${COMMITS}_sum`))} / ${sum('', rate(`${COMMITS}_count`))}`, 'mean'],
    [quantile(0.99, COMMITS), 'p99'],
  ],
  [
    'Cache hits',
    'percentunit',
    'With Redis the share is low, because sessions carry their people. Without Redis, raise PROFILE_CACHE_MB if people come back and the share is low.',
    { half: true },
    [
      `${sum('cache', rate('keystride_cache_lookups_total', 'outcome="hit"'))} / ${sum('cache', rate('keystride_cache_lookups_total'))}`,
      '{{cache}}',
    ],
  ],
  [
    'Size of the database',
    'bytes',
    'On disk, without the write-ahead log. Compare its growth with the free space.',
    { half: true },
    [max('database', 'keystride_database_bytes'), '{{database}}'],
  ],
]

const background = [
  [
    'Oldest waiting job',
    's',
    'How long it has been due. If it grows, no process with the role jobs runs, or the job fails: read the log.',
    { warn: 300, crit: 900 },
    [max('database, queue', 'keystride_job_oldest_waiting_seconds'), '{{database}} {{queue}}'],
  ],
  [
    'Since the last success: retention',
    's',
    'Runs every 6 hours. After 13 hours read the log of the process with the role jobs.',
    { warn: 8 * 3600, crit: 13 * 3600 },
    [
      `time() - ${max('database', 'keystride_job_last_success_timestamp_seconds', 'queue="retention"')}`,
      '{{database}}',
    ],
  ],
  [
    'Since the last success: search for exports',
    's',
    'Runs every minute. After 15 minutes read the log of the process with the role jobs.',
    { warn: 300, crit: 900 },
    [
      `time() - ${max('database', 'keystride_job_last_success_timestamp_seconds', 'queue="find-exports"')}`,
      '{{database}}',
    ],
  ],
  [
    'Jobs by state',
    'short',
    'Failed within two days: the log has the error, and an export must be asked for again.',
    {},
    [max('database, queue, state', 'keystride_jobs'), '{{database}} {{queue}} {{state}}'],
  ],
  [
    'Alerts that wait',
    'short',
    'If they pile up, see the tries in GET /alert/deliveries of the dashboard API.',
    { warn: 100 },
    [max('database', 'keystride_outbox_deliveries'), '{{database}}'],
  ],
  [
    'Oldest alert that waits',
    's',
    'After 15 minutes check the process with the role jobs and the receivers.',
    { warn: 300, crit: 900 },
    [max('database', 'keystride_outbox_oldest_waiting_seconds'), '{{database}}'],
  ],
  [
    'Deliveries of alerts',
    'reqps',
    'Tries by channel and outcome. If one channel fails, repair its receiver or ask the organization to.',
    { half: true, stack: true },
    [sum('channel, outcome', rate('keystride_alert_deliveries_total')), '{{channel}} {{outcome}}'],
  ],
  [
    'Paused channels',
    'short',
    'A channel pauses after a failure. GET /alert/deliveries names it and the error.',
    { half: true, warn: 1 },
    [max('database', 'keystride_alert_channels_paused'), '{{database}}'],
  ],
]

const versions = [
  [
    'Builds',
    'short',
    'One row a version. More than one for an hour: finish the rolling update.',
    { table: true },
    [`count by (version, node, instance) (${of('keystride_build_info')})`, ''],
  ],
  [
    'Schema',
    'short',
    'Latest migration, version of the functions, version of PostgreSQL. The functions should be those of the build.',
    { table: true },
    [`max by (database, schema, functions, server) (${of('keystride_schema_info')})`, ''],
  ],
  [
    'HTTP server',
    'short',
    'uWebSockets.js with the hash of its binary, or node:http, which costs more processor time (docs/operations.md).',
    { table: true },
    [`count by (name, version, sha256) (${of('keystride_http_server_info')})`, ''],
  ],
  [
    'Clock skew',
    's',
    'Largest skew from the clock of the database. Above 5 s repair the time synchronization; above 60 s calls get 503.',
    { half: true, warn: 1, crit: 5 },
    [max('instance', 'keystride_clock_skew_seconds'), '{{instance}}'],
  ],
  [
    'Degraded',
    'short',
    '1 while a process cannot reach a store, or its clock is off by more than a minute.',
    { half: true, crit: 1 },
    [max('instance', 'keystride_degraded'), '{{instance}}'],
  ],
  [
    'Stores that answer',
    'short',
    'Share of the processes that reach a store. With several databases, only the organizations of a lost one get 503.',
    { half: true },
    [`avg by (store) (${of('keystride_store_reachable')})`, '{{store}}'],
  ],
]

/** The rows of the dashboard, in order. */
export const ROWS = {
  Now: now,
  'Sign-ins': signIns,
  Attacks: attacks,
  Enrollment: enrollment,
  'Traffic and latency': traffic,
  Processes: processes,
  Stores: stores,
  'Background work': background,
  Versions: versions,
}
