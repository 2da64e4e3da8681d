import { useState } from 'preact/hooks'
import type { Data } from '../answers.js'
import { call, get } from '../api.js'
import { count } from '../format.js'
import { useLoad } from '../load.js'
import type { Organization as Settings } from '../organization.js'
import { Badge } from '../parts/badge.js'
import { Confirm } from '../parts/dialog.js'
import { TextField, TickField } from '../parts/field.js'
import { Fresh } from '../parts/fresh.js'
import { Card, Page } from '../parts/page.js'
import { Empty, Show } from '../parts/states.js'
import { type Column, getRows, skipNow, Table } from '../parts/table.js'
import { Tabs } from '../parts/tabs.js'
import { Time } from '../parts/time.js'
import { toast } from '../parts/toasts.js'
import { href, viewAddress } from '../router.js'
import { access } from '../session.js'
import { fill, t } from '../texts.js'

const texts = t.organization
const SCOPES = ['dashboard', 'dashboard:read', 'dashboard:operate', 'core', 'links'] as const
type Scope = (typeof SCOPES)[number]

interface ApiKey {
  readonly id: string
  readonly label: string
  readonly scopes: readonly Scope[]
  readonly created_at: string
  readonly expires_at: string | null
  readonly revoked_at: string | null
  readonly state: 'live' | 'expired' | 'revoked'
  readonly own: boolean
}

/** The organization's settings and its API keys. */
export function Organization() {
  const loaded = useLoad((signal) => get<Data<Settings>>('/organization', {}, signal), [])
  return (
    <Page title={texts.title}>
      <Show of={loaded}>
        {({ data }) => (
          <Card title={data.name}>
            <Facts settings={data} />
          </Card>
        )}
      </Show>
      <Keys />
    </Page>
  )
}

function Facts({ settings }: { readonly settings: Settings }) {
  const { id, created_at, default_language, language_mode, redirect_origins, key_rate } = settings
  return (
    <>
      <dl class="facts">
        <dt>{texts.id}</dt>
        <dd>
          <code>{id}</code>
        </dd>
        <dt>{texts.created}</dt>
        <dd>
          <Time at={created_at} />
        </dd>
        <dt>{texts.language}</dt>
        <dd>{fill(texts.languageModes[language_mode], { language: default_language })}</dd>
        <dt>{texts.redirects}</dt>
        <dd>{redirect_origins.join(', ') || texts.anyRedirect}</dd>
        <dt>{texts.rate}</dt>
        <dd>{rateOf(key_rate)}</dd>
        <dt>{texts.quotas}</dt>
        <dd>
          <a href={href('usage')}>{t.usage.title}</a>
        </dd>
      </dl>
      <p class="soft small">{texts.commandOnly}</p>
    </>
  )
}

function rateOf(rate: Settings['key_rate']): string {
  if (rate === null) return texts.usualRate
  return rate.per_second === 0
    ? texts.noRate
    : fill(texts.rateOf, { n: count(rate.per_second), burst: count(rate.burst) })
}

function Keys() {
  const [skip, all] = [skipNow(), viewAddress.value.query.get('view') === 'all']
  const [issuing, setIssuing] = useState(false)
  const [revoking, setRevoking] = useState<ApiKey | null>(null)
  const loaded = useLoad((signal) => getRows<ApiKey>('/keys', { live: String(!all) }, signal), [skip, all])
  const { operates } = access()
  const revoke: Column<ApiKey> = {
    name: texts.revoke,
    show: (key) =>
      key.state === 'live' ? (
        <button type="button" class="button quiet" onClick={() => setRevoking(key)}>
          {texts.revoke}
        </button>
      ) : (
        t.none
      ),
  }
  return (
    <>
      <div class="sieve">
        <Tabs
          label={texts.keys}
          tabs={[
            { name: texts.live, href: href('organization'), current: !all },
            { name: texts.all, href: href('organization', { view: 'all' }), current: all },
          ]}
        />
        {operates && (
          <button type="button" class="button" onClick={() => setIssuing(true)}>
            {texts.issue}
          </button>
        )}
      </div>
      <div class="card flush">
        <Table
          label={texts.keys}
          of={loaded}
          columns={operates ? [...COLUMNS, revoke] : COLUMNS}
          idOf={({ id }) => id}
          empty={<Empty title={texts.noKeys} />}
        />
      </div>
      {issuing && <Issue close={() => setIssuing(false)} issued={loaded.reload} />}
      {revoking !== null && (
        <Confirm
          title={fill(texts.revokeTitle, { label: revoking.label })}
          close={() => setRevoking(null)}
          button={texts.revoke}
          danger
          word={revoking.label}
          act={async () => {
            await call('DELETE', `/keys/${revoking.id}`)
            toast(fill(texts.revoked, { label: revoking.label }))
            setRevoking(null)
            loaded.reload()
          }}
        >
          <p>{revoking.own ? texts.revokeOwn : texts.revokeEffect}</p>
        </Confirm>
      )}
    </>
  )
}

const TONES = { live: 'good', expired: 'plain', revoked: 'bad' } as const

const COLUMNS: readonly Column<ApiKey>[] = [
  {
    name: texts.label,
    show: ({ label, own }) => (
      <>
        {label} {own && <Badge tone="good">{texts.own}</Badge>}
      </>
    ),
  },
  { name: texts.scopes, show: ({ scopes }) => scopes.join(', ') },
  { name: texts.state, show: ({ state }) => <Badge tone={TONES[state]}>{texts.states[state]}</Badge> },
  { name: texts.issued, show: ({ created_at }) => <Time at={created_at} /> },
  {
    name: texts.ends,
    show: ({ expires_at, revoked_at }) =>
      (revoked_at ?? expires_at) === null ? texts.never : <Time at={revoked_at ?? expires_at} />,
  },
]

interface IssueNeeds {
  readonly close: () => void
  readonly issued: () => void
}

/** Issues a key, and shows it once. */
function Issue({ close, issued }: IssueNeeds) {
  const [label, setLabel] = useState('')
  const [scopes, setScopes] = useState<readonly Scope[]>(['dashboard:read'])
  const [lastDay, setLastDay] = useState('')
  const [fresh, setFresh] = useState<string | null>(null)
  if (fresh !== null) {
    const { freshTitle, freshHelp, copied } = texts
    return <Fresh title={freshTitle} help={freshHelp} secret={fresh} copied={copied} close={close} />
  }
  const act = async () => {
    const body = { label, scopes, ...(lastDay !== '' && { expires_at: `${lastDay}T23:59:59Z` }) }
    const { data } = await call<Data<{ readonly apikey: string }>>('POST', '/keys', { body })
    setFresh(data.apikey)
    issued()
  }
  return (
    <Confirm title={texts.issue} close={close} button={texts.issue} act={act}>
      <TextField label={texts.label} value={label} set={setLabel} help={texts.labelHelp} />
      <fieldset>
        <legend>{texts.scopes}</legend>
        {SCOPES.map((scope) => (
          <TickField
            key={scope}
            label={fill(texts.scopeOf, { scope, meaning: texts.meanings[scope] })}
            value={scopes.includes(scope)}
            set={(on) => setScopes(on ? [...scopes, scope] : scopes.filter((one) => one !== scope))}
          />
        ))}
      </fieldset>
      <TextField label={texts.lastDay} type="date" value={lastDay} set={setLastDay} help={texts.lastDayHelp} />
    </Confirm>
  )
}
