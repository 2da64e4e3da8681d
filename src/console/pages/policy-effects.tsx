import { useState } from 'preact/hooks'
import type { Data, List } from '../answers.js'
import { call, get, pathOf } from '../api.js'
import { count, share } from '../format.js'
import { useLoad } from '../load.js'
import { Exact } from '../parts/exact.js'
import { Link } from '../parts/link.js'
import { Card } from '../parts/page.js'
import { Ranges } from '../parts/ranges.js'
import { userHref } from '../parts/search.js'
import { SeriesChart } from '../parts/series-chart.js'
import { Empty, Show } from '../parts/states.js'
import { Wide } from '../parts/wide.js'
import type { Policy, Transition } from '../policies.js'
import { rangeNow, windowOf } from '../range.js'
import { fill, t } from '../texts.js'

const texts = t.policies
const OUTCOMES = ['auth', 'challenge', 'block'] as const

interface TransitionsNeeds {
  readonly transitions: readonly Transition[]
  readonly label: string
}

/** The numbers of attempts by their decision and by that of the policy. */
function Transitions({ transitions, label }: TransitionsNeeds) {
  const numberOf = (from: string, to: string) => transitions.find((one) => one.from === from && one.to === to)?.n ?? 0
  return (
    <Wide label={label}>
      <table class="figures transitions">
        <thead>
          <tr>
            <th scope="col">{texts.was}</th>
            {OUTCOMES.map((to) => (
              <th key={to} scope="col">
                {fill(texts.wouldBe, { outcome: t.outcome[to] })}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {OUTCOMES.map((from) => (
            <tr key={from}>
              <th scope="row">{t.outcome[from]}</th>
              {OUTCOMES.map((to) => (
                <td key={to} class={from !== to && numberOf(from, to) > 0 ? 'changed' : undefined}>
                  {count(numberOf(from, to))}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Wide>
  )
}

interface Simulated {
  readonly n_attempts: number
  readonly n_changed: number
  readonly truncated: boolean
  readonly transitions: readonly Transition[]
  readonly users: readonly { readonly user_ref: string; readonly n_stricter: number; readonly n_looser: number }[]
}
const USERS_SHOWN = 10

/** The decisions that the policy, as it is saved, would have made in a window. */
export function Simulation({ policy }: { readonly policy: Policy }) {
  const [asked, setAsked] = useState(false)
  return (
    <Card title={texts.simulation} aside={<Ranges />}>
      <p class="soft">{texts.simulationHelp}</p>
      {asked ? (
        <Simulated path={`/policies${pathOf(policy.id)}/simulate`} body={{}} />
      ) : (
        <button type="button" class="button quiet" onClick={() => setAsked(true)}>
          {texts.simulate}
        </button>
      )}
    </Card>
  )
}

/** The decisions that a policy which is not saved would have made in the window of the address. */
export const DraftSimulation = ({ content }: { readonly content: object }) => (
  <Card title={texts.draftSimulation} aside={<Ranges />}>
    <Simulated path="/policies/simulate" body={{ policy: content }} />
  </Card>
)

interface SimulatedNeeds {
  readonly path: string
  /** The body of the call without its window; a further object simulates again. */
  readonly body: object
}

function Simulated({ path, body }: SimulatedNeeds) {
  const range = rangeNow()
  const loaded = useLoad(
    (signal) => call<Data<Simulated>>('POST', path, { body: { ...body, date_from: windowOf(range).from }, signal }),
    [path, JSON.stringify(body), range],
  )
  return (
    <Show of={loaded}>
      {({ data: { n_attempts, n_changed, truncated, transitions, users } }) =>
        n_attempts === 0 ? (
          <Empty title={texts.nothingToSimulate} />
        ) : (
          <>
            <p>
              {fill(texts.simulated, {
                n: count(n_changed),
                all: count(n_attempts),
                share: share(n_changed / n_attempts),
              })}
              {truncated && <span class="soft"> {texts.truncated}</span>}
            </p>
            <Transitions transitions={transitions} label={texts.simulation} />
            {users.length > 0 && (
              <>
                <h3>{texts.mostChanged}</h3>
                <ul class="feed">
                  {users.slice(0, USERS_SHOWN).map(({ user_ref, n_stricter, n_looser }) => (
                    <li key={user_ref}>
                      <Link to={userHref(user_ref)}>
                        <Exact>{user_ref}</Exact>
                      </Link>
                      <span class="soft">
                        {fill(texts.changes, { stricter: count(n_stricter), looser: count(n_looser) })}
                      </span>
                    </li>
                  ))}
                </ul>
              </>
            )}
          </>
        )
      }
    </Show>
  )
}

interface Shadowed {
  readonly is_shadow: boolean
  readonly n_attempts: number
  readonly n_different: number
  readonly transitions: readonly Transition[]
}

/** The decisions of a shadow policy, compared with the actual ones; nothing for a policy that never was the shadow. */
export function ShadowCard({ policy }: { readonly policy: Policy }) {
  const range = rangeNow()
  const loaded = useLoad(
    (signal) =>
      get<Data<Shadowed>>(`/policies${pathOf(policy.id)}/shadow`, { date_from: windowOf(range).from }, signal),
    [policy.id, policy.is_shadow, range],
  )
  if (loaded.data !== null && !loaded.data.data.is_shadow && loaded.data.data.n_attempts === 0) return null
  return (
    <Card title={texts.shadowTitle} aside={<Ranges />}>
      <Show of={loaded}>
        {({ data: { n_attempts, n_different, transitions } }) =>
          n_attempts === 0 ? (
            <Empty title={texts.noShadowed} />
          ) : (
            <>
              <p>
                {fill(texts.shadowed, {
                  n: count(n_different),
                  all: count(n_attempts),
                  share: share(n_different / n_attempts),
                })}
              </p>
              <Transitions transitions={transitions} label={texts.shadowTitle} />
              <ShadowOverTime policy={policy} />
            </>
          )
        }
      </Show>
    </Card>
  )
}

interface ShadowDay {
  readonly date: string
  readonly n_attempts: number
  readonly n_stricter: number
  readonly n_looser: number
}

/** The attempts of each day, by how the shadow policy's decision differs from the actual one. */
function ShadowOverTime({ policy }: { readonly policy: Policy }) {
  const range = rangeNow()
  const loaded = useLoad(
    async (signal) => {
      const query = { date_from: windowOf(range).from.slice(0, 10), bucket: 'day' }
      return (await get<List<ShadowDay>>(`/policies${pathOf(policy.id)}/shadow-history`, query, signal)).data
    },
    [policy.id, range],
  )
  return (
    <Show of={loaded}>
      {(days) => (
        <SeriesChart
          label={texts.shadowOver}
          dates={days.map(({ date }) => date)}
          kind="bars"
          series={[
            {
              name: texts.same,
              colour: 'edge',
              values: days.map(({ n_attempts, n_stricter, n_looser }) => n_attempts - n_stricter - n_looser),
            },
            { name: texts.stricter, colour: 'block', values: days.map(({ n_stricter }) => n_stricter) },
            { name: texts.looser, colour: 'challenge', values: days.map(({ n_looser }) => n_looser) },
          ]}
        />
      )}
    </Show>
  )
}
