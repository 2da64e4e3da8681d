import { useId } from 'preact/hooks'

interface FieldNeeds {
  readonly label: string
  readonly value: string
  readonly set: (value: string) => void
  readonly help?: string
  /** The reason for which the value is not accepted. */
  readonly problem?: string | undefined
  readonly placeholder?: string
  readonly type?: 'text' | 'number' | 'password' | 'date'
  readonly step?: number
}

/** A labelled field that shows the problem of its value during typing. */
export function TextField({ label, value, set, help, problem, placeholder, type = 'text', step }: FieldNeeds) {
  const id = useId()
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        // Sound: the types of a field have the same attributes.
        type={type as 'number'}
        step={step ?? (type === 'number' ? 'any' : undefined)}
        value={value}
        placeholder={placeholder}
        autocomplete="off"
        spellcheck={false}
        aria-invalid={problem !== undefined}
        aria-describedby={`${id}-note`}
        onInput={({ currentTarget }) => set(currentTarget.value)}
      />
      <p id={`${id}-note`} class={problem === undefined ? 'soft small' : 'problem small'}>
        {problem ?? help}
      </p>
    </div>
  )
}

interface ChoiceNeeds {
  readonly label: string
  readonly value: string
  readonly set: (value: string) => void
  readonly help?: string
  /** The name of each value. */
  readonly names: Readonly<Record<string, string>>
}

/** A labelled choice of one of few values. */
export function ChoiceField({ label, value, set, help, names }: ChoiceNeeds) {
  const id = useId()
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select
        id={id}
        value={value}
        aria-describedby={`${id}-note`}
        onChange={({ currentTarget }) => set(currentTarget.value)}
      >
        {Object.entries(names).map(([one, name]) => (
          <option key={one} value={one}>
            {name}
          </option>
        ))}
      </select>
      <p id={`${id}-note`} class="soft small">
        {help}
      </p>
    </div>
  )
}

interface TickNeeds {
  readonly label: string
  readonly value: boolean
  readonly set: (value: boolean) => void
}

/** A setting that is on or off. */
export const TickField = ({ label, value, set }: TickNeeds) => (
  <label class="check">
    <input type="checkbox" checked={value} onChange={({ currentTarget }) => set(currentTarget.checked)} />
    {label}
  </label>
)
