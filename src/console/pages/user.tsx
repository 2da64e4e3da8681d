import { useState } from 'preact/hooks'
import type { Bucket, Data, List } from '../answers.js'
import { get, pathOf } from '../api.js'
import { count, counted } from '../format.js'
import { useLoad } from '../load.js'
import { Badge } from '../parts/badge.js'
import { OutcomeChart } from '../parts/outcome-chart.js'
import { Card, Page } from '../parts/page.js'
import { ProfileBadge } from '../parts/profile-status.js'
import { Ranges } from '../parts/ranges.js'
import { Empty, Show } from '../parts/states.js'
import { type Column, getRows, skipNow, Table } from '../parts/table.js'
import { Tabs } from '../parts/tabs.js'
import { Time } from '../parts/time.js'
import { Wide } from '../parts/wide.js'
import { rangeNow, windowOf } from '../range.js'
import { href, hrefWith, viewAddress } from '../router.js'
import { fill, t } from '../texts.js'
import type { ActionEntry, FullUser, LogEntry, Member } from '../users.js'
import { Devices, Hours, Places } from './connections.js'
import { UserActs } from './user-acts.js'

const texts = t.user

export function User({ userRef }: { readonly userRef: string }) {
  const loaded = useLoad((signal) => get<Data<FullUser>>(`/users${pathOf(userRef)}`, {}, signal), [userRef])
  const [acts, setActs] = useState(0)
  const changed = () => {
    loaded.reload()
    setActs((n) => n + 1)
  }
  return (
    <Page title={userRef} exact tools={<Ranges />}>
      <Show of={loaded}>
        {({ data }) => (
          <>
            <div class="columns">
              <Card title={texts.account}>
                <Account user={data} />
              </Card>
              {data.type === 'nominative' && data.members[0] !== undefined && (
                <Card title={texts.profile} aside={<ProfileBadge status={data.members[0].biometric_status} />}>
                  <Profile member={data.members[0]} />
                </Card>
              )}
            </div>
            {data.type === 'generic' && <Members members={data.members} />}
            <UserActs user={data} changed={changed} />
          </>
        )}
      </Show>
      <SignIns userRef={userRef} />
      <Hours userRef={userRef} />
      <div class="columns">
        <Places userRef={userRef} />
        <Devices userRef={userRef} />
      </div>
      <History key={acts} userRef={userRef} />
    </Page>
  )
}

const tagged = (tag: Readonly<Record<string, string>>) =>
  Object.entries(tag)
    .map(([name, value]) => `${name}: ${value}`)
    .join(', ')

function Account({ user }: { readonly user: FullUser }) {
  const { type, user_display_name, groups, tag, n_members, created_at, last_authentication_at } = user
  return (
    <dl class="facts">
      <dt>{texts.type}</dt>
      <dd>{type === 'nominative' ? texts.nominative : counted(texts.generic, n_members)}</dd>
      <dt>{texts.name}</dt>
      <dd>{user_display_name ?? t.none}</dd>
      <dt>{texts.groups}</dt>
      <dd>{groups.join(', ') || t.none}</dd>
      {Object.keys(tag).length > 0 && (
        <>
          <dt>{texts.tags}</dt>
          <dd>{tagged(tag)}</dd>
        </>
      )}
      <dt>{texts.created}</dt>
      <dd>
        <Time at={created_at} />
      </dd>
      <dt>{texts.last}</dt>
      <dd>
        <Time at={last_authentication_at} />
      </dd>
    </dl>
  )
}

const codeOf = ({ security_code_set, security_code_temporary }: Member) =>
  security_code_set ? (security_code_temporary ? texts.codeTemporary : texts.codeSet) : texts.codeNone
const pendingOf = ({ pending_action }: Member) =>
  pending_action === null
    ? t.none
    : ((texts.acts as Readonly<Record<string, string>>)[pending_action] ?? pending_action)

function Profile({ member }: { readonly member: Member }) {
  const adaptive = member.pattern_references.filter(({ kind }) => kind === 'adaptive').length
  const kinds = { enrolled: count(member.pattern_references.length - adaptive), adaptive: count(adaptive) }
  const modes = { visible: count(member.n_patterns_ref_visible), sensitive: count(member.n_patterns_ref_sensitive) }
  return (
    <dl class="facts">
      <dt>{texts.references}</dt>
      <dd>
        {fill(texts.ofTarget, { n: count(member.n_patterns_ref), target: count(member.target_ref_patterns) })}
        <progress
          value={Math.min(member.n_patterns_ref, member.target_ref_patterns)}
          max={member.target_ref_patterns}
          aria-label={texts.references}
        />
      </dd>
      <dt>{texts.origin}</dt>
      <dd>{fill(texts.kinds, kinds)}</dd>
      <dt>{texts.mode}</dt>
      <dd>{fill(texts.modes, modes)}</dd>
      <dt>{texts.code}</dt>
      <dd>{codeOf(member)}</dd>
      <dt>{texts.pending}</dt>
      <dd>{pendingOf(member)}</dd>
      {member.preferred_language !== null && (
        <>
          <dt>{texts.language}</dt>
          <dd>{member.preferred_language}</dd>
        </>
      )}
    </dl>
  )
}

/** The members of a shared account; there are few, so the API does not page them. */
const Members = ({ members }: { readonly members: readonly Member[] }) => (
  <Card title={texts.members}>
    <Wide label={texts.members}>
      <table class="rows">
        <thead>
          <tr>
            {[texts.member, texts.name, texts.profile, texts.references, texts.code, texts.pending, texts.last].map(
              (name) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ),
            )}
          </tr>
        </thead>
        <tbody>
          {members.map((member) => (
            <tr key={member.member_ref}>
              <th scope="row" translate={false}>
                {member.member_ref}
              </th>
              <td>{member.user_display_name ?? t.none}</td>
              <td>
                <ProfileBadge status={member.biometric_status} />
              </td>
              <td>
                {fill(texts.ofTarget, { n: count(member.n_patterns_ref), target: count(member.target_ref_patterns) })}
              </td>
              <td>{codeOf(member)}</td>
              <td>{pendingOf(member)}</td>
              <td>
                <Time at={member.last_authentication_at} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Wide>
  </Card>
)

function SignIns({ userRef }: { readonly userRef: string }) {
  const range = rangeNow()
  const loaded = useLoad(
    async (signal) => {
      const { from, bucket } = windowOf(range)
      const path = `/authentications-history${pathOf(userRef)}`
      return { bucket, points: (await get<List<Bucket>>(path, { date_from: from, bucket }, signal)).data }
    },
    [userRef, range],
  )
  return (
    <Card title={texts.over}>
      <Show of={loaded}>
        {({ bucket, points }) =>
          points.every(({ n }) => n === 0) ? (
            <Empty title={texts.noSignIns} />
          ) : (
            <OutcomeChart
              label={texts.over}
              points={points}
              bucket={bucket}
              open={({ date }, next) => href('authentications', { user: userRef, from: date, to: next?.date })}
            />
          )
        }
      </Show>
    </Card>
  )
}

/** The timeline of sign-ins and actions, or the actions alone with their origin. */
function History({ userRef }: { readonly userRef: string }) {
  const actions = viewAddress.value.query.get('view') === 'actions'
  const Rows = actions ? Actions : Timeline
  return (
    <>
      <div class="sieve">
        <Tabs
          label={texts.history}
          tabs={[
            { name: texts.timeline, href: hrefWith({ view: null, skip: null }), current: !actions },
            { name: texts.log, href: hrefWith({ view: 'actions', skip: null }), current: actions },
          ]}
        />
      </div>
      <div class="card flush">
        <Rows userRef={userRef} />
      </div>
    </>
  )
}

const nameOf = (what: string): string => ({ ...texts.acts, ...texts.methods })[what] ?? what
const TONES: Readonly<Record<string, 'good' | 'warn' | 'bad' | 'plain'>> = {
  auth: 'good',
  challenge: 'warn',
  block: 'bad',
  done: 'plain',
  'not-done': 'bad',
}
const OUTCOMES: Readonly<Record<string, string>> = { ...t.outcome, done: texts.done, 'not-done': texts.notDone }

const TIMELINE: readonly Column<LogEntry>[] = [
  { name: texts.time, show: ({ created_at }) => <Time at={created_at} /> },
  { name: texts.what, show: ({ what }) => nameOf(what) },
  {
    name: texts.outcome,
    show: ({ outcome }) => <Badge tone={TONES[outcome] ?? 'plain'}>{OUTCOMES[outcome] ?? outcome}</Badge>,
  },
  {
    name: texts.reason,
    show: ({ reason }) => (texts.reasons as Readonly<Record<string, string>>)[reason] ?? (reason || t.none),
  },
  { name: texts.member, show: ({ member_ref }) => member_ref, exact: true },
]

function Timeline({ userRef }: { readonly userRef: string }) {
  const skip = skipNow()
  const loaded = useLoad((signal) => getRows<LogEntry>(`/users${pathOf(userRef)}/logs`, {}, signal), [userRef, skip])
  return (
    <Table
      label={texts.timeline}
      of={loaded}
      columns={TIMELINE}
      idOf={({ id }) => id}
      to={({ id, kind }) => (kind === 'authentication' ? href(`authentications${pathOf(id)}`) : undefined)}
      empty={<Empty title={texts.noEntries} />}
    />
  )
}

const ACTIONS: readonly Column<ActionEntry>[] = [
  { name: texts.time, show: ({ created_at }) => <Time at={created_at} /> },
  { name: texts.what, show: ({ action }) => nameOf(action) },
  {
    name: texts.outcome,
    show: ({ done }) => <Badge tone={done ? 'plain' : 'bad'}>{done ? texts.done : texts.notDone}</Badge>,
  },
  { name: texts.member, show: ({ member_ref }) => member_ref, exact: true },
  { name: texts.apiKey, show: ({ api_key_id }) => <code>{api_key_id}</code> },
  { name: texts.request, show: ({ request_id }) => <code>{request_id}</code> },
]

function Actions({ userRef }: { readonly userRef: string }) {
  const skip = skipNow()
  const loaded = useLoad(
    (signal) => getRows<ActionEntry>(`/users${pathOf(userRef)}/actions`, {}, signal),
    [userRef, skip],
  )
  return (
    <Table
      label={texts.log}
      of={loaded}
      columns={ACTIONS}
      idOf={({ id }) => id}
      empty={<Empty title={texts.noActions} />}
    />
  )
}
