import { useState } from 'preact/hooks'
import type { Data } from '../answers.js'
import { call, get, pathOf } from '../api.js'
import { useLoad } from '../load.js'
import { Confirm } from '../parts/dialog.js'
import { Page } from '../parts/page.js'
import { Show } from '../parts/states.js'
import { toast } from '../parts/toasts.js'
import type { DefaultWeights, Policies, Policy as Record } from '../policies.js'
import { href, navigate } from '../router.js'
import { access } from '../session.js'
import { fill, t } from '../texts.js'
import { PolicyBadges } from './policies.js'
import { PolicyEditor } from './policy-editor.js'
import { ShadowCard, Simulation } from './policy-effects.js'

const texts = t.policies

/** The policy with the default weights that its form shows. */
const loadOne = async (id: string, signal: AbortSignal) => {
  const [{ data: policy }, { default_weights: weights }] = await Promise.all([
    get<Data<Record>>(id === '' ? '/default-policy' : `/policies${pathOf(id)}`, {}, signal),
    get<Policies>('/policies', {}, signal),
  ])
  return { policy, weights }
}

interface OneNeeds {
  readonly policy: Record
  readonly weights: readonly DefaultWeights[]
  readonly reload: () => void
}

export function Policy({ id }: { readonly id: string }) {
  const loaded = useLoad((signal) => loadOne(id, signal), [id])
  if (loaded.data === null)
    return (
      <Page title={texts.one}>
        <Show of={loaded}>{() => null}</Show>
      </Page>
    )
  return <Loaded {...loaded.data} reload={loaded.reload} />
}

function Loaded({ policy, weights, reload }: OneNeeds) {
  const may = access().operates && policy.archived_at === null
  const save = async (content: object) => {
    await call('PUT', `/policies${pathOf(policy.id)}`, { body: content })
    toast(fill(texts.saved, { name: policy.name }))
    reload()
  }
  return (
    <Page title={policy.name} tools={<PolicyBadges policy={policy} />}>
      {may && <Acts policy={policy} reload={reload} />}
      <PolicyEditor
        key={policy.updated_at}
        policy={policy}
        weights={weights}
        button={texts.save}
        save={may ? save : null}
      />
      <Simulation key={`${policy.id} ${policy.updated_at}`} policy={policy} />
      <ShadowCard policy={policy} />
    </Page>
  )
}

/** The form of a further policy, with the content of the default policy. */
export function NewPolicy() {
  const loaded = useLoad((signal) => loadOne('', signal), [])
  const create = async (content: object) => {
    const { data } = await call<Data<Record>>('POST', '/policies', { body: content })
    toast(fill(texts.created, { name: data.name }))
    navigate(href(`policies${pathOf(data.id)}`), { replace: true })
  }
  return (
    <Page title={texts.add}>
      <Show of={loaded}>
        {({ policy, weights }) => (
          <PolicyEditor
            policy={{ ...policy, name: '', groups: [] }}
            weights={weights}
            button={texts.create}
            save={access().operates ? create : null}
          />
        )}
      </Show>
    </Page>
  )
}

type Act = 'default' | 'shadow' | 'endShadow' | 'archive'

function Acts({ policy, reload }: Omit<OneNeeds, 'weights'>) {
  const [asked, setAsked] = useState<Act | null>(null)
  const { id, name, is_default, is_shadow } = policy
  const calls = {
    default: ['POST', '/default'],
    shadow: ['POST', '/shadow'],
    endShadow: ['DELETE', '/shadow'],
    archive: ['DELETE', ''],
  } as const
  const offered: readonly Act[] = [
    ...(is_default ? [] : (['default'] as const)),
    is_shadow ? 'endShadow' : 'shadow',
    ...(is_default ? [] : (['archive'] as const)),
  ]
  const perform = async (act: Act) => {
    const [method, path] = calls[act]
    await call(method, `/policies${pathOf(id)}${path}`)
    toast(fill(texts.acted[act], { name }))
    setAsked(null)
    reload()
  }
  return (
    <div class="acts above">
      {offered.map((act) => (
        <button
          key={act}
          type="button"
          class={act === 'archive' ? 'button danger' : 'button quiet'}
          onClick={() => setAsked(act)}
        >
          {texts.acts[act]}
        </button>
      ))}
      {asked !== null && (
        <Confirm
          title={`${texts.acts[asked]}: ${name}`}
          button={texts.acts[asked]}
          danger={asked === 'archive'}
          {...(asked === 'archive' && { word: name })}
          act={() => perform(asked)}
          close={() => setAsked(null)}
        >
          <p>{texts.effects[asked]}</p>
        </Confirm>
      )}
    </div>
  )
}
