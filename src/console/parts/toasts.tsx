import { signal } from '@preact/signals'
import type { ApiError } from '../api.js'
import { fill, t } from '../texts.js'

interface Toast {
  readonly id: number
  readonly text: string
  readonly tone: 'good' | 'bad'
}

const toasts = signal<readonly Toast[]>([])
const SHOWN_MS = 6_000
let last = 0

/** Reports the result of an action for some seconds. A failure stays until it is closed. */
export function toast(text: string, tone: Toast['tone'] = 'good'): void {
  const id = ++last
  toasts.value = [...toasts.value, { id, text, tone }]
  if (tone === 'good') setTimeout(() => close(id), SHOWN_MS)
}

/** Reports a failed action, with the request id. */
export function toastError(error: unknown): void {
  const { message, requestId = null } = error as Error & Partial<ApiError>
  toast(requestId === null ? message : `${message} (${fill(t.errors.request, { id: requestId })})`, 'bad')
}

/** Closes the failures of a view that is left. */
export const clearFailures = (): void => {
  toasts.value = toasts.value.filter(({ tone }) => tone !== 'bad')
}

const close = (id: number): void => {
  toasts.value = toasts.value.filter((one) => one.id !== id)
}

export const Toasts = () => (
  <div class="toasts" role="status">
    {toasts.value.map(({ id, text, tone }) => (
      <p key={id} class={`toast ${tone}`}>
        {text}
        <button type="button" aria-label={t.toast.close} onClick={() => close(id)}>
          ×
        </button>
      </p>
    ))}
  </div>
)
