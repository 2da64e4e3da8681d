import { type ChannelHealth, type Delivery, type DeliveryList, eventName } from '../alerts.js'
import { count, moment } from '../format.js'
import { useLoad } from '../load.js'
import { Badge } from '../parts/badge.js'
import { Choice, filterNow } from '../parts/filter.js'
import { Card } from '../parts/page.js'
import { Empty } from '../parts/states.js'
import { type Column, getRows, skipNow, Table } from '../parts/table.js'
import { Time } from '../parts/time.js'
import { fill, t } from '../texts.js'

const texts = t.alerts
/** Deliveries change by themselves, so the list is read at this interval. */
const LOOK_MS = 5_000

/** The log of deliveries, and each channel that fails. */
export function DeliveryLog() {
  const [channel, state, skip] = [filterNow('channel'), filterNow('state'), skipNow()]
  const loaded = useLoad(
    (signal) =>
      getRows<Delivery, DeliveryList>(
        '/alert/deliveries',
        { channel: channel ?? undefined, state: state ?? undefined },
        signal,
      ),
    [channel, state, skip],
    LOOK_MS,
  )
  return (
    <Card title={texts.deliveries}>
      <p class="soft">{texts.deliveriesHelp}</p>
      {loaded.data?.channels.filter(isBehind).map((health) => (
        <p key={health.channel} class="problem">
          {healthOf(health)}
        </p>
      ))}
      <div class="sieve filters">
        <Choice name="channel" label={texts.channel} names={texts.channels} />
        <Choice name="state" label={texts.state} names={texts.states} />
      </div>
      <Table
        label={texts.deliveries}
        of={loaded}
        columns={COLUMNS}
        idOf={({ id }) => id}
        empty={<Empty title={texts.noDelivery} />}
      />
    </Card>
  )
}

/** A channel that failed since its last success. */
const isBehind = ({ failures }: ChannelHealth): boolean => failures > 0

function healthOf({ channel, n_waiting, failures, closed_until }: ChannelHealth): string {
  const parts = [
    fill(texts.waiting, { channel: texts.channels[channel], n: count(n_waiting) }),
    fill(texts.inARow, { failures: count(failures) }),
    ...(closed_until === null ? [] : [fill(texts.closed, { time: moment(closed_until) })]),
  ]
  return `${parts.join(', ')}.`
}

const TONES = { waiting: 'warn', delivered: 'good', failed: 'bad', dropped: 'bad' } as const
const outcomeOf = ({ outcome, text }: NonNullable<Delivery['last_try']>): string =>
  (texts.outcomes as Readonly<Record<string, string>>)[outcome] ?? text

const COLUMNS: readonly Column<Delivery>[] = [
  { name: texts.queued, show: ({ queued_at }) => <Time at={queued_at} /> },
  { name: texts.event, show: ({ kind }) => eventName(kind) },
  { name: texts.channel, show: ({ channel }) => texts.channels[channel] },
  { name: texts.state, show: ({ state }) => <Badge tone={TONES[state]}>{texts.states[state]}</Badge> },
  { name: texts.tries, show: ({ tries }) => count(tries), figure: true },
  { name: texts.lastTry, show: ({ last_try }) => (last_try === null ? t.none : outcomeOf(last_try)) },
]
