import type { Data } from '../answers.js'
import { get } from '../api.js'
import { count, counted, duration, fileSize, milliseconds } from '../format.js'
import { useLoad } from '../load.js'
import { Badge } from '../parts/badge.js'
import { Card, Page } from '../parts/page.js'
import { Show } from '../parts/states.js'
import { Wide } from '../parts/wide.js'
import { fill, t } from '../texts.js'

const texts = t.system
const REFRESH_MS = 10_000
/** A job that is due for longer finds no process to run it: every queue is polled at least once a minute. */
const LATE_S = 120

interface Queue {
  readonly queue: string
  readonly n_waiting: number
  readonly n_later: number
  readonly n_running: number
  readonly n_failed: number
  readonly oldest_waiting_s: number | null
}

interface State {
  readonly status: 'OK' | 'NOK'
  readonly reason: string | null
  readonly version: string
  readonly node: string
  readonly roles: readonly string[]
  readonly model: { readonly name: string; readonly sha256: string }
  readonly processes: readonly {
    readonly process: number
    readonly version: string
    readonly uptime_s: number
    readonly n_restarts: number
  }[]
  readonly stores: readonly {
    readonly name: string
    readonly reachable: boolean
    readonly latency_ms: number | null
  }[]
  readonly database: {
    readonly server_version: string
    readonly bytes: number
    readonly schema_version: string
    readonly functions_version: string
  } | null
  readonly queues: readonly Queue[] | null
  readonly clock_skew_ms: number
}

/** The health of the deployment, reloaded while the page is open. */
export function System() {
  const loaded = useLoad((signal) => get<Data<State>>('/system', {}, signal), [], REFRESH_MS)
  return (
    <Page title={texts.title}>
      <Show of={loaded}>
        {({ data }) => (
          <>
            <p class="health">
              <span class={data.status === 'OK' ? 'dot good' : 'dot bad'} />
              {data.status === 'OK' ? texts.well : data.reason}
            </p>
            <div class="columns">
              <Card title={texts.stores}>
                <Stores state={data} />
              </Card>
              <Card title={texts.versions}>
                <Versions state={data} />
              </Card>
            </div>
            <Card title={texts.processes}>
              <p class="soft">{texts.processesHelp}</p>
              <Processes processes={data.processes} />
            </Card>
            <Card title={texts.queues}>
              {data.queues === null ? <p class="soft">{texts.unknown}</p> : <Queues queues={data.queues} />}
            </Card>
          </>
        )}
      </Show>
    </Page>
  )
}

const Stores = ({ state: { stores, database, clock_skew_ms } }: { readonly state: State }) => (
  <dl class="facts">
    {stores.map(({ name, latency_ms }) => [
      <dt key={name}>{name}</dt>,
      <dd key={`${name} value`}>
        {latency_ms === null ? (
          <Badge tone="bad">{texts.unreachable}</Badge>
        ) : (
          <>
            <Badge tone="good">{texts.reachable}</Badge> {fill(texts.latency, { time: milliseconds(latency_ms) })}
          </>
        )}
      </dd>,
    ])}
    <dt>{texts.size}</dt>
    <dd>{database === null ? texts.unknown : fileSize(database.bytes)}</dd>
    <dt>{texts.skew}</dt>
    <dd>{milliseconds(clock_skew_ms)}</dd>
  </dl>
)

/** Number of digits shown of a hash: enough to distinguish two models. */
const DIGITS = 12

const Versions = ({ state: { version, node, model, database, roles } }: { readonly state: State }) => (
  <dl class="facts">
    <dt>{t.product}</dt>
    <dd>{version}</dd>
    <dt>{texts.model}</dt>
    <dd>
      {model.name} <code title={model.sha256}>{model.sha256.slice(0, DIGITS)}</code>
    </dd>
    <dt>{texts.schema}</dt>
    <dd>
      {database === null
        ? texts.unknown
        : fill(texts.schemaOf, { schema: database.schema_version, version: database.functions_version })}
    </dd>
    <dt>PostgreSQL</dt>
    <dd>{database?.server_version ?? texts.unknown}</dd>
    <dt>Node.js</dt>
    <dd>{node}</dd>
    <dt>{texts.roles}</dt>
    <dd>{roles.join(', ')}</dd>
  </dl>
)

const Processes = ({ processes }: { readonly processes: State['processes'] }) => (
  <Wide label={texts.processes}>
    <table class="rows">
      <Heads names={[texts.process, texts.version, texts.uptime, texts.restarts]} figures={2} />
      <tbody>
        {processes.map(({ process, version, uptime_s, n_restarts }) => (
          <tr key={process}>
            <th scope="row">{count(process)}</th>
            <td>{version}</td>
            <td class="figure">{duration(uptime_s)}</td>
            <td class="figure">{count(n_restarts)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  </Wide>
)

const names: Readonly<Record<string, string>> = texts.queueNames

const Queues = ({ queues }: { readonly queues: readonly Queue[] }) => (
  <Wide label={texts.queues}>
    <table class="rows">
      <Heads names={[texts.queue, texts.waiting, texts.oldest, texts.running, texts.later, texts.failed]} figures={1} />
      <tbody>
        {queues.map(({ queue, n_waiting, n_later, n_running, n_failed, oldest_waiting_s: oldest }) => (
          <tr key={queue}>
            <th scope="row">{names[queue] ?? queue}</th>
            <td class="figure">{count(n_waiting)}</td>
            <td class="figure">
              {oldest === null ? t.none : <Badge tone={oldest > LATE_S ? 'warn' : 'plain'}>{duration(oldest)}</Badge>}
            </td>
            <td class="figure">{count(n_running)}</td>
            <td class="figure">{count(n_later)}</td>
            <td class="figure">
              {n_failed === 0 ? count(0) : <Badge tone="bad">{counted(texts.failures, n_failed)}</Badge>}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  </Wide>
)

interface HeadsNeeds {
  readonly names: readonly string[]
  /** Index of the first column with figures. */
  readonly figures: number
}

const Heads = ({ names, figures }: HeadsNeeds) => (
  <thead>
    <tr>
      {names.map((name, i) => (
        <th key={name} scope="col" class={i < figures ? undefined : 'figure'}>
          {name}
        </th>
      ))}
    </tr>
  </thead>
)
