import { useState } from 'preact/hooks'
import type { ApiError } from '../api.js'
import { count, counted } from '../format.js'
import { ChoiceField, TextField, TickField } from '../parts/field.js'
import { Card } from '../parts/page.js'
import {
  contentOf,
  type DefaultWeights,
  type Draft,
  draftOf,
  NUMBERS,
  type NumberField,
  problemsOf,
  wordsOpen,
} from '../policies.js'
import { fill, t } from '../texts.js'
import { DraftSimulation } from './policy-effects.js'

const texts = t.policies

interface EditorNeeds {
  readonly policy: Parameters<typeof draftOf>[0]
  readonly weights: readonly DefaultWeights[]
  readonly button: string
  /** Null if the policy is only shown. */
  readonly save: ((content: object) => Promise<void>) | null
}

interface PartNeeds {
  readonly draft: Draft
  readonly problems: Readonly<Record<string, string>>
  readonly change: (change: Partial<Draft>) => void
}

/** The form of a policy. Each field shows at once why the API would refuse it. */
export function PolicyEditor({ policy, weights, button, save }: EditorNeeds) {
  const [draft, setDraft] = useState(() => draftOf(policy))
  const [touched, setTouched] = useState(false)
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<Partial<ApiError> | null>(null)
  const [tried, setTried] = useState<object | null>(null)
  const problems = touched ? problemsOf(draft) : {}
  const change = (part: Partial<Draft>) => {
    setDraft((all) => ({ ...all, ...part }))
    setTouched(true)
  }
  const submit = async (event: Event) => {
    event.preventDefault()
    setTouched(true)
    if (save === null || busy || Object.keys(problemsOf(draft)).length > 0) return
    setBusy(true)
    setError(null)
    await save(contentOf(draft)).catch((reason: Partial<ApiError>) => setError(reason))
    setBusy(false)
  }
  const needs = { draft, problems, change }
  return (
    <form onSubmit={submit} noValidate>
      <fieldset disabled={save === null}>
        <legend class="hidden">{texts.one}</legend>
        <div class="columns">
          <Decision {...needs} />
          <Fallback {...needs} />
        </div>
        <WeightsCard {...needs} weights={weights} />
      </fieldset>
      <div role="alert">
        {error !== null && (
          <p class="wrong">
            {error.message}
            {error.requestId && <code class="request">{fill(t.errors.request, { id: error.requestId })}</code>}
          </p>
        )}
      </div>
      {save !== null && (
        <p class="save">
          <button type="submit" class="button" disabled={busy || !touched || Object.keys(problems).length > 0}>
            {button}
          </button>
          <button
            type="button"
            class="button quiet"
            disabled={!touched || Object.keys(problems).length > 0}
            onClick={() => setTried(contentOf(draft))}
          >
            {texts.tryDraft}
          </button>
          <span class="soft">
            {Object.keys(problems).length > 0 ? texts.mend : touched ? texts.unsaved : texts.untouched}
          </span>
        </p>
      )}
      {tried !== null && <DraftSimulation content={tried} />}
    </form>
  )
}

const names = <K extends string>(of: Readonly<Record<K, string>>): Readonly<Record<string, string>> => of

function useField({ draft, problems, change }: PartNeeds) {
  return (name: keyof Draft['fields'], label: string, help?: string) => ({
    label,
    value: draft.fields[name],
    set: (value: string) => change({ fields: { ...draft.fields, [name]: value } }),
    problem: problems[name],
    ...(help !== undefined && { help }),
    ...(name in NUMBERS && { type: 'number' as const, step: NUMBERS[name as NumberField].whole ? 1 : 0.01 }),
  })
}

const helpOfWords = (words: string): string =>
  words === 'require'
    ? `${texts.wordsHelp.require} ${fill(texts.wordsUnrecorded, texts.wordsRules)}`
    : `${texts.wordsHelp.suggest} ${wordsOpen()}`

function Decision(needs: PartNeeds) {
  const field = useField(needs)
  const { priority, on_suspicion, words } = needs.draft.fields
  return (
    <Card title={texts.decision}>
      <TextField {...field('name', texts.name)} />
      <TextField {...field('groups', texts.groups, texts.groupsHelp)} />
      <TextField {...field('decision_threshold', texts.threshold, texts.thresholdHelp)} />
      <ChoiceField
        {...field('priority', texts.priority)}
        names={texts.priorities}
        help={names(texts.priorityHelp)[priority] ?? ''}
      />
      <TextField {...field('contextual_influence', texts.influence, texts.influenceHelp)} />
      <ChoiceField
        {...field('on_suspicion', texts.suspicion)}
        names={texts.suspicions}
        help={names(texts.suspicionHelp)[on_suspicion] ?? ''}
      />
      <ChoiceField {...field('words', texts.words)} names={texts.wordsRules} help={helpOfWords(words)} />
      <TextField {...field('min_hours_between', texts.hoursBetween, texts.hoursBetweenHelp)} />
    </Card>
  )
}

function Fallback(needs: PartNeeds) {
  const field = useField(needs)
  const { draft, change } = needs
  return (
    <Card title={texts.fallback}>
      <TickField label={texts.enabled} value={draft.enabled} set={(enabled) => change({ enabled })} />
      <TickField
        label={texts.biometricFirst}
        value={draft.biometricFirst}
        set={(biometricFirst) => change({ biometricFirst })}
      />
      <TextField {...field('max_biometric_attempts', texts.typingAttempts)} />
      <TextField {...field('max_code_attempts', texts.codeAttempts)} />
      <TextField {...field('code_length', texts.codeLength)} />
      <TextField {...field('weak_codes', texts.weak, texts.weakHelp)} />
    </Card>
  )
}

interface WeightsNeeds extends PartNeeds {
  readonly weights: readonly DefaultWeights[]
}

/** Weights of the context. An empty field shows the default, which then applies. */
function WeightsCard({ draft, problems, change, weights }: WeightsNeeds) {
  const field = (key: string, label: string, usual: number) => (
    <TextField
      key={key}
      label={label}
      type="number"
      value={draft.weights[key] ?? ''}
      placeholder={fill(texts.usual, { n: count(usual) })}
      problem={problems[key]}
      set={(value) => change({ weights: { ...draft.weights, [key]: value } })}
    />
  )
  return (
    <Card title={texts.weights}>
      <p class="soft">{texts.weightsHelp}</p>
      <div class="weights">
        {weights.map(({ indicator, weight, signals }) => (
          <div key={indicator}>
            {field(indicator, names(t.indicators)[indicator] ?? indicator, weight)}
            <details>
              <summary>{counted(texts.signals, Object.keys(signals).length)}</summary>
              {Object.entries(signals).map(([signal, usual]) => field(`${indicator}/${signal}`, signal, usual))}
            </details>
          </div>
        ))}
      </div>
    </Card>
  )
}
