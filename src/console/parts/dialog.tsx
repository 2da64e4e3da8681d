import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { ApiError } from '../api.js'
import { fill, t } from '../texts.js'
import { withExact } from './exact.js'

interface ModalNeeds {
  readonly title: string
  /** Called when the dialog was closed, by Escape too. */
  readonly close: () => void
  readonly children: ComponentChildren
}

/** A modal dialog, open while it is rendered. The browser keeps the focus in it, and gives it back afterwards. */
export function Modal({ title, close, children }: ModalNeeds) {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    const element = dialog.current
    element?.showModal()
    element?.addEventListener('close', close)
    return () => {
      // The event of a dialog that is left behind would close the next one.
      element?.removeEventListener('close', close)
      element?.close()
    }
  }, [])
  return (
    <dialog ref={dialog} aria-label={title}>
      <h2 translate={false}>{title}</h2>
      {children}
    </dialog>
  )
}

interface ConfirmNeeds extends ModalNeeds {
  /** The name of the action, on its button. */
  readonly button: string
  readonly danger?: boolean
  /** A text to type before the action is possible. */
  readonly word?: string
  /** A rejection is shown in the dialog, which stays open. */
  readonly act: () => Promise<void>
}

/** Asks before an action. Its content explains the effect. */
export function Confirm({ title, close, button, danger = false, word, act, children }: ConfirmNeeds) {
  const [typed, setTyped] = useState('')
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<Partial<ApiError> | null>(null)
  const possible = !busy && (word === undefined || typed === word)
  const submit = async (event: Event) => {
    event.preventDefault()
    if (!possible) return
    setBusy(true)
    setError(null)
    try {
      await act()
    } catch (reason) {
      setError(reason as Partial<ApiError>)
      setBusy(false)
    }
  }
  return (
    <Modal title={title} close={close}>
      <form onSubmit={submit}>
        {children}
        {word !== undefined && (
          <label>
            {withExact(t.dialog.type, 'word', word)}
            <input
              autocomplete="off"
              spellcheck={false}
              autofocus
              onInput={({ currentTarget }) => setTyped(currentTarget.value)}
            />
          </label>
        )}
        <div role="alert">
          {error !== null && (
            <p class="wrong">
              {error.message}
              {error.requestId && <code class="request">{fill(t.errors.request, { id: error.requestId })}</code>}
            </p>
          )}
        </div>
        <div class="buttons">
          <button type="button" class="button quiet" onClick={close}>
            {t.dialog.cancel}
          </button>
          <button type="submit" class={danger ? 'button danger' : 'button'} disabled={!possible}>
            {button}
          </button>
        </div>
      </form>
    </Modal>
  )
}
