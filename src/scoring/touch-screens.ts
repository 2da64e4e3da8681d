import type { Scoring } from './scoring.js'

/** Kinds of device (`deviceKind`) that people mostly type on without a keyboard. */
const TOUCH_KINDS: ReadonlySet<string | null> = new Set(['mobile', 'tablet'])

export const isTouchScreen = (kind: string | null): boolean => TOUCH_KINDS.has(kind)

/**
 * Refuses patterns from phones and tablets: the model was fitted on keyboards only, so its confidence in a touch screen would be
 * a guess. The pattern's `d` describes the device; a pattern without `d` is scored.
 */
export const withoutTouchScreens = (scoring: Scoring): Scoring => ({
  id: scoring.id,
  async score(task) {
    const result = await scoring.score(task)
    const isTouched = result.ok && isTouchScreen(result.reading.metadata.device?.kind ?? null)
    return isTouched ? { ok: false, message: MESSAGE, touched: result.reading } : result
  },
  memoryBytes: () => scoring.memoryBytes(),
  close: () => scoring.close(),
})

const MESSAGE =
  'd describes a phone or tablet: the model knows typing on keyboards only, so a pattern from a touch screen is not scored; use a computer, or the security code'
