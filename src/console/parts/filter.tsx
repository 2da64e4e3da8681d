import { useEffect, useRef } from 'preact/hooks'
import { withoutMarks } from '../browser.js'
import { hrefWith, navigate, viewAddress } from '../router.js'
import { fill, t } from '../texts.js'

/** Pause between the last key press and the search. */
const PAUSE_MS = 250

interface FilterNeeds {
  /** The name of the value in the address. */
  readonly name: string
  readonly label: string
}

/** The text that the address filters by; null if there is none. */
export const filterNow = (name: string): string | null => viewAddress.value.query.get(name) || null

/** A field for a text to filter by, which it keeps in the address. */
export function Filter({ name, label }: FilterNeeds) {
  const field = useRef<HTMLInputElement>(null)
  const timer = useRef(0)
  const given = filterNow(name) ?? ''
  useEffect(() => {
    if (field.current !== null && withoutMarks(field.current.value) !== given) field.current.value = given
  }, [given])
  useEffect(() => () => clearTimeout(timer.current), [])
  const apply = (text: string) => navigate(hrefWith({ [name]: withoutMarks(text), skip: null }), { replace: true })
  return (
    <input
      ref={field}
      type="search"
      class="filter"
      aria-label={label}
      placeholder={label}
      defaultValue={given}
      autocomplete="off"
      spellcheck={false}
      onInput={({ currentTarget: { value } }) => {
        clearTimeout(timer.current)
        timer.current = window.setTimeout(() => apply(value), PAUSE_MS)
      }}
    />
  )
}

interface ChoiceNeeds extends FilterNeeds {
  /** The name of each value to filter by. */
  readonly names: Readonly<Record<string, string>>
}

/** A choice of one value to filter by, or of all, which it keeps in the address. */
export const Choice = ({ name, label, names }: ChoiceNeeds) => (
  <select
    aria-label={label}
    value={filterNow(name) ?? ''}
    onChange={({ currentTarget: { value } }) => navigate(hrefWith({ [name]: value, skip: null }), { replace: true })}
  >
    <option value="">{fill(t.table.all, { name: label })}</option>
    {Object.entries(names).map(([value, text]) => (
      <option key={value} value={value}>
        {text}
      </option>
    ))}
  </select>
)
