import type { Breakdown, Bucket, Data, List, Notifications, Status } from '../answers.js'
import { call, get, pathOf } from '../api.js'
import { change, count, counted, pointsChanged, share } from '../format.js'
import { useLoad } from '../load.js'
import { Link } from '../parts/link.js'
import { OutcomeChart } from '../parts/outcome-chart.js'
import { Card, Page } from '../parts/page.js'
import { Ranges } from '../parts/ranges.js'
import { userHref } from '../parts/search.js'
import { Empty, Show } from '../parts/states.js'
import { Time } from '../parts/time.js'
import { toast, toastError } from '../parts/toasts.js'
import { type Policy, wordsOpen } from '../policies.js'
import { type Range, rangeNow, windowOf } from '../range.js'
import { href } from '../router.js'
import { access } from '../session.js'
import { fill, t } from '../texts.js'
import { MadeUp } from './made-up.js'

const texts = t.overview
const REFRESH_MS = 60_000

export function Overview() {
  const range = rangeNow()
  const loaded = useLoad((signal) => figuresOf(range, signal), [range], REFRESH_MS)
  return (
    <Page title={texts.title} tools={<Ranges />}>
      <Show of={loaded}>
        {(data) => (
          <>
            <FigureCards range={range} {...data} />
            {data.policy.words === 'suggest' && (
              <p class="soft">
                {wordsOpen()} <Link to={href(`policies${pathOf(data.policy.id)}`)}>{texts.defaultPolicy}</Link>
              </p>
            )}
          </>
        )}
      </Show>
      <MadeUp changed={loaded.reload} />
      <div class="columns">
        <Card title={texts.notifications}>
          <Newest />
        </Card>
        <Card title={texts.health}>
          <Health />
        </Card>
      </div>
    </Page>
  )
}

interface FiguresData {
  readonly window: ReturnType<typeof windowOf>
  readonly series: readonly Bucket[]
  readonly before: readonly Bucket[]
  readonly bots: number
  readonly replays: number
  readonly lockedNow: number
  readonly policy: Policy
}

async function figuresOf(range: Range, signal: AbortSignal): Promise<FiguresData> {
  const window = windowOf(range)
  const { from: date_from, bucket } = window
  const [series, before, bot, locked, policy] = await Promise.all([
    get<List<Bucket>>('/authentications-history', { date_from, bucket }, signal),
    get<List<Bucket>>('/authentications-history', { ...window.before, bucket: 'day' }, signal),
    get<Data<Breakdown>>('/aggregations/contextual/bot', { date_from }, signal),
    get<List<unknown>>('/aggregations/blocked-users', { limit: 1 }, signal),
    get<Data<Policy>>('/default-policy', {}, signal),
  ])
  const withReason = (reason: string) =>
    bot.data.values.find(({ signal: name, value }) => name === 'reason' && value === reason)?.n ?? 0
  return {
    window,
    series: series.data,
    before: before.data,
    bots: withReason('detection-bot'),
    replays: withReason('fraud-detected'),
    lockedNow: locked.count,
    policy: policy.data,
  }
}

const sumOf = (buckets: readonly Bucket[]) => {
  const sum = (field: 'n' | 'authenticated' | 'challenged' | 'blocked') =>
    buckets.reduce((all, bucket) => all + bucket[field], 0)
  const n = sum('n')
  const rate = (part: number) => (n === 0 ? null : part / n)
  return { n, success: rate(sum('authenticated')), challenged: rate(sum('challenged')), blocked: sum('blocked') }
}

function FigureCards({
  range,
  window,
  series,
  before,
  bots,
  replays,
  lockedNow,
}: FiguresData & { readonly range: Range }) {
  const [now, then] = [sumOf(series), sumOf(before)]
  const against = (text: string | null) =>
    fill(text === null ? texts.noneBefore : texts.before, { change: text ?? '', range: t.range[range] })
  const list = (outcome?: string, reason?: string) => href('authentications', { range, outcome, reason })
  return (
    <>
      <ul class="tiles">
        <Tile name={texts.signIns} value={count(now.n)} note={against(change(now.n, then.n))} to={list()} />
        <Tile
          name={texts.success}
          value={share(now.success)}
          note={against(pointsChanged(now.success, then.success))}
          to={list('auth')}
        />
        <Tile
          name={texts.challenges}
          value={share(now.challenged)}
          note={against(pointsChanged(now.challenged, then.challenged))}
          to={list('challenge')}
        />
        <Tile
          name={texts.blocked}
          value={count(now.blocked)}
          note={against(change(now.blocked, then.blocked))}
          to={list('block')}
        />
        <Tile name={texts.bots} value={count(bots)} note={texts.machine} to={list(undefined, 'detection-bot')} />
        <Tile name={texts.replays} value={count(replays)} note={texts.copied} to={list(undefined, 'fraud-detected')} />
        <Tile
          name={texts.lockedNow}
          value={count(lockedNow)}
          note={texts.lockedNowHelp}
          to={href('users', { view: 'locked' })}
        />
      </ul>
      <Card title={texts.over}>
        {now.n === 0 ? (
          <Empty title={texts.empty}>
            <p>{texts.emptyHelp}</p>
            <p>
              <a href="../" data-load>
                {texts.guide}
              </a>
            </p>
          </Empty>
        ) : (
          <OutcomeChart
            label={texts.over}
            points={series}
            bucket={window.bucket}
            open={({ date }, next) => href('authentications', { from: date, to: next?.date })}
          />
        )}
      </Card>
    </>
  )
}

interface TileNeeds {
  readonly name: string
  readonly value: string
  readonly note: string
  readonly to: string
}

const Tile = ({ name, value, note, to }: TileNeeds) => (
  <li>
    <Link class="tile" to={to}>
      <span class="name">{name}</span>
      <b>{value}</b>
      <span class="soft">{note}</span>
    </Link>
  </li>
)

function Newest() {
  const loaded = useLoad((signal) => get<Notifications>('/notifications', { limit: 6 }, signal), [], REFRESH_MS)
  return (
    <Show of={loaded}>
      {({ data, unread }) =>
        data.length === 0 ? (
          <Empty title={texts.noNotifications}>
            <p>{texts.noNotificationsHelp}</p>
          </Empty>
        ) : (
          <>
            {unread > 0 && (
              <p class="soft">
                {counted(texts.unread, unread)}
                {access().operates && (
                  <button type="button" class="link" onClick={() => void markAllRead(loaded.reload)}>
                    {texts.markRead}
                  </button>
                )}
              </p>
            )}
            <ul class="feed">
              {data.map(({ id, text, created_at, user_ref, authentication_id, read }) => (
                <li key={id} class={read ? 'read' : 'unread'}>
                  <NotificationText text={text} userRef={user_ref} authenticationId={authentication_id} />
                  <Time at={created_at} />
                </li>
              ))}
            </ul>
          </>
        )
      }
    </Show>
  )
}

async function markAllRead(reload: () => void): Promise<void> {
  try {
    await call('POST', '/notifications/read', { body: { all: true } })
    toast(texts.marked)
    reload()
  } catch (error) {
    toastError(error)
  }
}

interface NotificationTextNeeds {
  readonly text: string
  readonly userRef: string | null
  readonly authenticationId: string | null
}

function NotificationText({ text, userRef, authenticationId }: NotificationTextNeeds) {
  if (authenticationId !== null) return <Link to={href(`authentications/${authenticationId}`)}>{text}</Link>
  if (userRef !== null) return <Link to={userHref(userRef)}>{text}</Link>
  return <span>{text}</span>
}

function Health() {
  const loaded = useLoad((signal) => call<Status>('GET', '/status', { api: 'core', signal }), [], REFRESH_MS)
  return (
    <Show of={loaded}>
      {({ status, message, version }) => (
        <>
          <p class="health">
            <span class={status === 'OK' ? 'dot good' : 'dot bad'} />
            {status === 'OK' ? texts.healthy : `${texts.degraded}: ${message}`}
          </p>
          <p class="soft">{fill(texts.version, { version })}</p>
          <p>
            <Link to={href('system')}>{texts.more}</Link>
          </p>
        </>
      )}
    </Show>
  )
}
