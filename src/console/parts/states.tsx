import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { ApiError } from '../api.js'
import type { Loaded } from '../load.js'
import { fill, t } from '../texts.js'

/** The data of a view, or the reason why there is none. A later failure is shown above the earlier data. */
export function Show<T>({
  of,
  children,
}: {
  readonly of: Loaded<T>
  readonly children: (data: T) => ComponentChildren
}) {
  const { data, error, loading, reload } = of
  if (data === null) return error === null ? <Loading /> : <Failure error={error} again={reload} />
  return (
    <div class="loaded" aria-busy={loading}>
      {error !== null && <Failure error={error} again={reload} stale />}
      {children(data)}
    </div>
  )
}

/** Appears after a moment, so that a fast answer does not flicker. */
export function Loading() {
  return (
    <p class="loading" role="status">
      <span class="spinner" />
      {t.loading}
    </p>
  )
}

interface FailureNeeds {
  readonly error: ApiError
  readonly again: () => void
  readonly stale?: boolean
}

/** An error with its request id. If the service names a time for the next try, `again` is called at that time. */
function Failure({ error, again, stale = false }: FailureNeeds) {
  const left = useCountdown(error, again)
  return (
    <div class="failure" role="alert">
      <p>
        <strong>{stale ? t.errors.stale : t.errors.title}</strong>
      </p>
      <p>{error.message}</p>
      {left !== null && <p>{fill(t.errors.waiting, { n: left })}</p>}
      <p>
        <button type="button" class="button quiet" onClick={again}>
          {t.errors.again}
        </button>
        {error.requestId !== null && <code class="request">{fill(t.errors.request, { id: error.requestId })}</code>}
      </p>
    </div>
  )
}

/** Seconds until the next try; null if the error names none. */
function useCountdown(error: ApiError, again: () => void): number | null {
  const [left, setLeft] = useState(error.retryAfterS)
  useEffect(() => {
    if (error.retryAfterS === null) return setLeft(null)
    const end = Date.now() + error.retryAfterS * 1000
    const tick = () => {
      const rest = Math.ceil((end - Date.now()) / 1000)
      setLeft(Math.max(0, rest))
      if (rest > 0) return
      clearInterval(timer)
      again()
    }
    const timer = setInterval(tick, 500)
    tick()
    return () => clearInterval(timer)
  }, [error])
  return left
}

interface EmptyNeeds {
  readonly title: string
  readonly children?: ComponentChildren
}

export const Empty = ({ title, children }: EmptyNeeds) => (
  <div class="empty">
    <p>
      <strong>{title}</strong>
    </p>
    {children}
  </div>
)
