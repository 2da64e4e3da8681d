import { type ComponentChildren, Fragment } from 'preact'
import type { Data, List } from '../answers.js'
import { ApiError, get } from '../api.js'
import type { FullAuthentication, Indicator, PolicyVerdict, Presses, Signal, Trace } from '../authentications.js'
import { count, score } from '../format.js'
import { useLoad } from '../load.js'
import { Badge, OutcomeBadge } from '../parts/badge.js'
import { Exact } from '../parts/exact.js'
import { Gauge } from '../parts/gauge.js'
import { Card, Page } from '../parts/page.js'
import { PressPicture } from '../parts/press-picture.js'
import { userHref } from '../parts/search.js'
import { Empty, Show } from '../parts/states.js'
import { Time } from '../parts/time.js'
import { Wide } from '../parts/wide.js'
import { href } from '../router.js'
import { fill, t } from '../texts.js'

const texts = t.authentication

/** One sign-in: the verdict, its evidence, and the verdicts of other policies. */
export function Authentication({ id }: { readonly id: string }) {
  const loaded = useLoad(async (signal) => {
    const { data } = await get<Data<FullAuthentication>>(`/authentications/${id}`, {}, signal)
    return { data, typed: data.auth_method === 'biometric' ? await typedOf(data, signal) : null }
  }, [])
  const user = loaded.data?.data.user_ref
  return (
    <Page title={user === undefined ? t.authentications.title : fill(texts.title, { user })}>
      <Show of={loaded}>
        {({ data, typed }) => (
          <>
            <div class="columns">
              <Card title={texts.verdict} aside={<OutcomeBadge outcome={data.recommended_action} />}>
                <Verdict attempt={data} typed={typed} />
              </Card>
              <Card title={texts.facts}>
                <Facts attempt={data} policy={typed?.presses?.policy.name ?? null} />
              </Card>
            </div>
            <Card title={texts.presses}>
              <Typing typed={typed} />
            </Card>
            {typed !== null && (
              <div class="columns">
                <Card title={texts.indicators}>
                  <Indicators indicators={data.indicators} />
                </Card>
                <Card title={texts.whatIf}>
                  <WhatIf verdicts={typed.verdicts} />
                </Card>
              </div>
            )}
          </>
        )}
      </Show>
    </Page>
  )
}

/** The answers of the API about an attempt by typing. */
interface Typed {
  /** Null if the presses no longer exist; `whyNot` is then the reason. */
  readonly presses: Presses | null
  readonly whyNot: string
  readonly verdicts: readonly PolicyVerdict[]
  readonly copy: Trace['copy_of']
}

async function typedOf({ id, reason }: FullAuthentication, signal: AbortSignal): Promise<Typed> {
  const path = `/authentication/${id}`
  const [presses, verdicts, trace] = await Promise.all([
    unlessGone(get<Data<Presses>>(`${path}/presses`, {}, signal)),
    get<List<PolicyVerdict>>(`${path}/what-if`, { limit: 100 }, signal),
    reason === 'fraud-detected' ? unlessGone(get<Data<Trace>>(`${path}/trace`, {}, signal)) : null,
  ])
  return {
    presses: presses instanceof ApiError ? null : presses.data,
    whyNot: presses instanceof ApiError ? presses.message : '',
    verdicts: verdicts.data,
    copy: trace === null || trace instanceof ApiError ? null : trace.data.copy_of,
  }
}

/** The answer, or the error that says that it does not exist. */
const unlessGone = <T,>(answer: Promise<T>): Promise<T | ApiError> =>
  answer.catch((error: unknown) => {
    if (error instanceof ApiError && error.status === 404) return error
    throw error
  })

interface VerdictNeeds {
  readonly attempt: FullAuthentication
  readonly typed: Typed | null
}

function Verdict({ attempt, typed }: VerdictNeeds) {
  const { reason, confidence, confidence_biometrics, confidence_context } = attempt
  const policy = typed?.presses?.policy ?? null
  // If the patterns are deleted, the what-if still has the policy as it is now.
  const decided = policy ?? typed?.verdicts.find(({ of_attempt }) => of_attempt) ?? null
  return (
    <>
      {reason !== '' && (
        <p>
          <strong>{t.user.reasons[reason]}.</strong>
        </p>
      )}
      {typed?.copy && <Copy copy={typed.copy} />}
      {typed !== null && (
        <>
          {decided !== null && (
            <Gauge
              confidence={confidence}
              threshold={decided.decision_threshold}
              challengeFrom={decided.challenge_from}
            />
          )}
          <dl class="facts">
            <dt>{texts.confidence}</dt>
            <dd>{score(confidence)}</dd>
            <dt>{texts.biometrics}</dt>
            <dd>{score(confidence_biometrics)}</dd>
            <dt>{texts.context}</dt>
            <dd>{score(confidence_context)}</dd>
          </dl>
          {policy?.changed_since && <p class="soft small">{texts.changedSince}</p>}
        </>
      )}
    </>
  )
}

/** The open data cannot measure rarer chances. */
const RAREST = 1e-6

const Copy = ({ copy }: { readonly copy: NonNullable<Trace['copy_of']> }) => {
  const [before, after = ''] = texts.copy.split('{time}')
  return (
    <p>
      {before}
      <Time at={copy.created_at} />
      {after}{' '}
      {copy.chance !== null && fill(texts.copyChance, { n: count(Math.round(1 / Math.max(copy.chance, RAREST))) })}
    </p>
  )
}

interface FactsNeeds {
  readonly attempt: FullAuthentication
  readonly policy: string | null
}

function Facts({ attempt, policy }: FactsNeeds) {
  const { user_ref, member_ref, tags, n_patterns_ref, n_patterns_ref_used } = attempt
  const rows: (readonly [string, ComponentChildren])[] = [
    [texts.time, <Time key="time" at={attempt.created_at} />],
    [
      texts.user,
      <a key="user" href={userHref(user_ref)} translate={false}>
        {user_ref}
      </a>,
    ],
    ...(member_ref === user_ref ? [] : [[texts.member, <Exact key="member">{member_ref}</Exact>] as const]),
    [texts.method, t.user.methods[attempt.auth_method]],
    [
      texts.policy,
      <a key="policy" href={href(`policies/${attempt.policy_id}`)}>
        {policy ?? attempt.policy_id}
      </a>,
    ],
    ...(attempt.typed_words === null ? [] : [[texts.words, texts.typedWords[attempt.typed_words]] as const]),
    [texts.references, fill(texts.used, { used: count(n_patterns_ref_used), n: count(n_patterns_ref) })],
    [texts.application, attempt.application ?? t.none],
    [texts.ip, attempt.ip ?? t.none],
    [texts.session, <code key="session">{attempt.session_id}</code>],
    ...(tags.length === 0 ? [] : [[texts.tags, tags.map(({ k, v }) => `${k}: ${v}`).join(', ')] as const]),
  ]
  return (
    <dl class="facts">
      {rows.map(([name, value]) => (
        <Fragment key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </Fragment>
      ))}
    </dl>
  )
}

function Typing({ typed }: { readonly typed: Typed | null }) {
  if (typed === null) return <Empty title={texts.code} />
  const { presses, copy, whyNot } = typed
  if (presses === null) return <Empty title={whyNot} />
  return (
    <>
      <p class="soft">
        {fill(texts.pressesHelp, { n: count(presses.n_references) })} {presses.masked && texts.masked}
      </p>
      <PressPicture presses={presses.presses} copied={copy?.presses ?? null} />
      {presses.whole.length > 0 && (
        <>
          <h3>{texts.whole}</h3>
          <ul class="signs">
            {presses.whole.map(({ sign, words }) => (
              <li key={sign}>{words}</li>
            ))}
          </ul>
        </>
      )}
    </>
  )
}

const nameOf = (indicator: string): string => (texts.names as Readonly<Record<string, string>>)[indicator] ?? indicator

const shown = (value: Signal['value']): string => {
  if (value === null) return t.none
  if (typeof value === 'boolean') return value ? texts.yes : texts.no
  return typeof value === 'number' && !Number.isInteger(value) ? score(value) : String(value)
}

/** Each indicator with its score, and its signals on demand. */
const Indicators = ({ indicators }: { readonly indicators: readonly Indicator[] }) => (
  <div class="indicators">
    {indicators.map(({ indicator, score: value, weight, signals }) => (
      <details key={indicator}>
        <summary>
          <span>{nameOf(indicator)}</span>
          <span class="soft small">
            {texts.weightOf} {count(weight)}
          </span>
          <meter min={0} max={1} value={value ?? 0} aria-label={`${texts.score}: ${nameOf(indicator)}`} />
          <span class="figure">{score(value)}</span>
        </summary>
        <Wide label={fill('{name}: {signals}', { name: nameOf(indicator), signals: texts.signals })}>
          <table class="rows">
            <thead>
              <tr>
                {[texts.signal, texts.value, texts.reference, texts.weightOf, texts.score].map((name) => (
                  <th key={name} scope="col">
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {signals.map((one) => (
                <tr key={one.signal}>
                  <th scope="row">
                    <code>{one.signal}</code>
                  </th>
                  <td>{shown(one.value)}</td>
                  <td>{shown(one.reference)}</td>
                  <td>{count(one.weight)}</td>
                  <td>{score(one.computedOutcome)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </Wide>
      </details>
    ))}
  </div>
)

/** The verdict of every live policy; an organization has few. */
const WhatIf = ({ verdicts }: { readonly verdicts: readonly PolicyVerdict[] }) => (
  <>
    <p class="soft">{texts.whatIfHelp}</p>
    <Wide label={texts.whatIf}>
      <table class="rows">
        <thead>
          <tr>
            {[texts.policy, texts.verdict, texts.ofThreshold].map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {verdicts.map((one) => (
            <tr key={one.policy_id}>
              <th scope="row">
                <a href={href(`policies/${one.policy_id}`)}>{one.name}</a>{' '}
                {one.of_attempt && <Badge tone="good">{texts.decided}</Badge>}
                {one.changed && <Badge tone="warn">{texts.other}</Badge>}
              </th>
              <td>
                <OutcomeBadge outcome={one.recommended_action} />
              </td>
              <td>
                {score(one.confidence)} / {score(one.decision_threshold)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Wide>
  </>
)
