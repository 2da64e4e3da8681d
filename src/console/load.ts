import { useEffect, useRef, useState } from 'preact/hooks'
import { ApiError } from './api.js'

/** Data of a view. Earlier data stays while newer data is loading, and if that load fails. */
export interface Loaded<T> {
  readonly data: T | null
  readonly error: ApiError | null
  /** False during a load by the timer, which leaves the view as it is. */
  readonly loading: boolean
  readonly reload: () => void
}

interface Changeable<T> extends Loaded<T> {
  /** Shows the data that a change was answered with. */
  readonly put: (data: T) => void
}

/**
 * Loads when `inputs` change and at `reload`, and every `everyMs` while the tab is visible. Calls in flight are aborted when the
 * inputs change and when the view is left.
 */
export function useLoad<T>(
  load: (signal: AbortSignal) => Promise<T>,
  inputs: readonly unknown[],
  everyMs: number | null = null,
): Changeable<T> {
  const [round, setRound] = useState(0)
  const [state, setState] = useState<Omit<Loaded<T>, 'reload'>>({ data: null, error: null, loading: true })
  const byTimer = useRef(false)
  useEffect(() => {
    const aborter = new AbortController()
    if (!byTimer.current) setState(({ data }) => ({ data, error: null, loading: true }))
    byTimer.current = false
    load(aborter.signal).then(
      (data) => {
        if (!aborter.signal.aborted) setState({ data, error: null, loading: false })
      },
      (reason: unknown) => {
        if (aborter.signal.aborted) return
        const error = reason instanceof ApiError ? reason : new ApiError(0, String(reason), null, null)
        setState(({ data }) => ({ data, error, loading: false }))
      },
    )
    return () => aborter.abort()
  }, [...inputs, round])
  const reload = () => setRound((n) => n + 1)
  useEffect(() => {
    if (everyMs === null) return
    const timer = setInterval(() => {
      if (document.visibilityState !== 'visible') return
      byTimer.current = true
      reload()
    }, everyMs)
    return () => clearInterval(timer)
  }, [everyMs])
  const put = (data: T) => setState({ data, error: null, loading: false })
  return { ...state, reload, put }
}
