import { get } from '../api.js'
import { score } from '../format.js'
import { useLoad } from '../load.js'
import { Badge } from '../parts/badge.js'
import { Page } from '../parts/page.js'
import { Empty } from '../parts/states.js'
import { type Column, Table } from '../parts/table.js'
import { Tabs } from '../parts/tabs.js'
import { Time } from '../parts/time.js'
import type { Policies as Answer, Policy } from '../policies.js'
import { href, viewAddress } from '../router.js'
import { access } from '../session.js'
import { t } from '../texts.js'

const texts = t.policies

export function PolicyBadges({ policy }: { readonly policy: Policy }) {
  const { is_default, is_shadow, archived_at } = policy
  return (
    <span class="badges">
      {is_default && <Badge tone="good">{texts.default}</Badge>}
      {is_shadow && <Badge tone="warn">{texts.shadow}</Badge>}
      {archived_at !== null && <Badge>{texts.archived}</Badge>}
    </span>
  )
}

const COLUMNS: readonly Column<Policy>[] = [
  {
    name: texts.name,
    show: (policy) => (
      <>
        {policy.name} <PolicyBadges policy={policy} />
      </>
    ),
  },
  { name: texts.threshold, show: ({ decision_threshold }) => score(decision_threshold), figure: true },
  { name: texts.priority, show: ({ priority }) => texts.priorities[priority] },
  {
    name: texts.groups,
    show: ({ groups, is_default }) => groups.join(', ') || (is_default ? texts.allOthers : texts.nobody),
  },
  { name: texts.changed, show: ({ updated_at, created_at }) => <Time at={updated_at ?? created_at} /> },
]

/** All policies; an organization has few, so the API does not page them. */
export function Policies() {
  const archived = viewAddress.value.query.get('view') === 'archived'
  const loaded = useLoad(
    async (signal) => ({ ...(await get<Answer>('/policies', { archived: String(archived) }, signal)), skip: 0 }),
    [archived],
  )
  const add = access().operates ? (
    <a class="button" href={href('policies/new')}>
      {texts.add}
    </a>
  ) : undefined
  return (
    <Page title={texts.title} tools={add}>
      <div class="sieve">
        <Tabs
          label={texts.views}
          tabs={[
            { name: texts.live, href: href('policies'), current: !archived },
            { name: texts.withArchived, href: href('policies', { view: 'archived' }), current: archived },
          ]}
        />
      </div>
      <div class="card flush">
        <Table
          label={texts.title}
          of={loaded}
          columns={COLUMNS}
          idOf={({ id }) => id}
          to={({ id }) => href(`policies/${id}`)}
          empty={<Empty title={texts.empty} />}
        />
      </div>
    </Page>
  )
}
