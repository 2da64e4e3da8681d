import { useEffect, useRef, useState } from 'preact/hooks'
import type { List } from '../answers.js'
import { get, pathOf } from '../api.js'
import { withoutMarks } from '../browser.js'
import { count } from '../format.js'
import { href, navigate } from '../router.js'
import { fill, t } from '../texts.js'

/** Pause between the last key press and the search. */
const PAUSE_MS = 150
const SHOWN = 8

const combobox = (open: boolean, chosen: number) =>
  ({
    role: 'combobox',
    list: undefined,
    'aria-expanded': open,
    'aria-controls': 'found',
    'aria-autocomplete': 'list',
    'aria-activedescendant': chosen < 0 ? undefined : `found-${chosen}`,
  }) as const

/** The address of a user's view. */
export const userHref = (userRef: string): string => href(`users${pathOf(userRef)}`)

/** Finds users by a part of their reference. The key `/` moves the focus here from anywhere. */
export function Search() {
  const field = useRef<HTMLInputElement>(null)
  const [text, setText] = useState('')
  const [chosen, setChosen] = useState(-1)
  const found = useMatches(text)
  useSlash(field)
  const open = found !== null
  const entries =
    found === null ? [] : [...found.data.map((ref) => ({ name: ref, to: userHref(ref) })), ...moreOf(text, found)]

  const close = () => {
    setText('')
    setChosen(-1)
    if (field.current !== null) field.current.value = ''
  }
  const go = (to: string) => {
    close()
    field.current?.blur()
    navigate(to)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const { key } = event
    if (key === 'Escape') return close()
    if (key === 'Enter') {
      const target = entries[Math.max(0, chosen)]
      if (target !== undefined) go(target.to)
    }
    if ((key !== 'ArrowDown' && key !== 'ArrowUp') || entries.length === 0) return
    event.preventDefault()
    setChosen((at) => (at + (key === 'ArrowDown' ? 1 : entries.length + (at < 0 ? 0 : -1))) % entries.length)
  }
  return (
    <search
      class="search"
      onFocusOut={({ relatedTarget, currentTarget }) => {
        if (!(currentTarget as Element).contains(relatedTarget as Node | null)) close()
      }}
    >
      <input
        ref={field}
        type="search"
        {...combobox(open, chosen)}
        aria-label={t.search.label}
        placeholder={t.search.placeholder}
        autocomplete="off"
        spellcheck={false}
        onInput={({ currentTarget }) => {
          setText(withoutMarks(currentTarget.value))
          setChosen(-1)
        }}
        onKeyDown={onKeyDown}
      />
      <span class="shortcut" aria-hidden="true">
        /
      </span>
      <Entries entries={open ? entries : []} chosen={chosen} go={go} />
      {open && entries.length === 0 && (
        <p class="nothing" role="status">
          {t.search.none}
        </p>
      )}
    </search>
  )
}

interface EntriesNeeds {
  readonly entries: readonly { readonly name: string; readonly to: string }[]
  readonly chosen: number
  readonly go: (to: string) => void
}

const Entries = ({ entries, chosen, go }: EntriesNeeds) => (
  <div id="found" role="listbox" aria-label={t.search.label} hidden={entries.length === 0}>
    {entries.map(({ name, to }, i) => (
      <div
        key={to}
        id={`found-${i}`}
        role="option"
        tabIndex={-1}
        aria-selected={i === chosen}
        translate={false}
        onMouseDown={() => go(to)}
      >
        {name}
      </div>
    ))}
  </div>
)

const moreOf = (text: string, { count: n, data }: List<string>) =>
  n > data.length ? [{ name: fill(t.search.more, { n: count(n) }), to: href('users', { filter: text }) }] : []

/** The users that contain a text; null without a text or an answer. A failed search finds nothing. */
function useMatches(text: string): List<string> | null {
  const [found, setFound] = useState<List<string> | null>(null)
  useEffect(() => {
    if (text === '') return setFound(null)
    const aborter = new AbortController()
    const timer = setTimeout(() => {
      get<List<string>>(`/users-refs${pathOf(text)}`, { limit: SHOWN }, aborter.signal).then(setFound, () => {
        if (!aborter.signal.aborted) setFound(null)
      })
    }, PAUSE_MS)
    return () => {
      clearTimeout(timer)
      aborter.abort()
    }
  }, [text])
  return found
}

function useSlash(field: { readonly current: HTMLInputElement | null }): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const typing = event.target instanceof Element && event.target.matches('input, textarea, select')
      if (event.key !== '/' || typing || event.ctrlKey || event.metaKey || event.altKey) return
      event.preventDefault()
      field.current?.focus()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])
}
