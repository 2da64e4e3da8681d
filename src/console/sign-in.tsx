import { useEffect, useRef, useState } from 'preact/hooks'
import type { ApiError } from './api.js'
import { storage, withoutMarks } from './browser.js'
import { Mark } from './parts/mark.js'
import { type SignInState, signIn, signOut } from './session.js'
import { fill, t } from './texts.js'

const texts = t.signIn

interface Problem {
  readonly text: string
  readonly requestId: string | null
}

const Wrong = ({ text, requestId }: Problem) => (
  <p class="wrong">
    {text}
    {requestId !== null && <code class="request">{fill(t.errors.request, { id: requestId })}</code>}
  </p>
)

/** The form for the key. The key is read from the field when the form is sent, and never rendered. */
export function SignIn({ why }: { readonly why: Extract<SignInState, { kind: 'out' }>['why'] }) {
  const [error, setError] = useState<Problem | null>(null)
  const [busy, setBusy] = useState(false)
  const field = useRef<HTMLInputElement>(null)
  const keep = useRef<HTMLInputElement>(null)
  const title = why === 'idle' ? texts.locked : texts.title
  useEffect(() => {
    document.title = fill(t.title, { page: title })
    field.current?.focus()
  }, [title])

  const submit = async (event: Event) => {
    event.preventDefault()
    const key = withoutMarks(field.current?.value ?? '')
    if (key === '') return setError({ text: texts.empty, requestId: null })
    setBusy(true)
    try {
      await signIn(key, keep.current?.checked ?? false)
      return
    } catch (reason) {
      const { status = 0, message, requestId = null } = reason as Partial<ApiError> & Error
      setError({ text: status === 401 ? texts.unknown : message, requestId })
    }
    setBusy(false)
    field.current?.select()
  }
  return (
    <main class="gate">
      <form class="card" autocomplete="off" onSubmit={submit}>
        <Mark />
        <h1>{title}</h1>
        <p class="soft">{why === null ? texts.lead : texts[why]}</p>
        <label>
          {texts.key}
          <input
            ref={field}
            type="password"
            autocomplete="off"
            spellcheck={false}
            aria-describedby="key-help"
            aria-invalid={error !== null}
          />
        </label>
        <p id="key-help" class="soft small">
          {texts.keyHelp}
        </p>
        {storage !== null && (
          <>
            <label class="check">
              <input ref={keep} type="checkbox" aria-describedby="keep-help" />
              {texts.keep}
            </label>
            <p id="keep-help" class="soft small">
              {texts.keepHelp}
            </p>
          </>
        )}
        <div role="alert">{error !== null && <Wrong {...error} />}</div>
        <button type="submit" class="button" disabled={busy}>
          {why === 'idle' ? texts.unlock : texts.button}
        </button>
      </form>
    </main>
  )
}

/** For a key that is valid but may not read the dashboard. */
export const NoScope = () => (
  <main class="gate">
    <div class="card">
      <Mark />
      <h1>{t.noScope.title}</h1>
      <p>{t.noScope.text}</p>
      <pre>
        <code>keystride key issue ORGANIZATION --scopes dashboard</code>
      </pre>
      <button type="button" class="button" onClick={() => signOut()}>
        {t.noScope.other}
      </button>
    </div>
  </main>
)
