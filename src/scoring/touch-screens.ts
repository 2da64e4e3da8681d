import type { Scoring } from './scoring.js'

/** Kinds of device (`deviceKind`) that people mostly type on without a keyboard. */
const TOUCH_KINDS: ReadonlySet<string | null> = new Set(['mobile', 'tablet'])

export const isTouchScreen = (kind: string | null): boolean => TOUCH_KINDS.has(kind)

/** Errors on touch screens at the default threshold: 23 people, three passwords, in one sitting and in later ones (docs/accuracy.md). */
export const TOUCH_ERRORS =
  'of a password on a touch screen, 2.8 to 4.2 % of the impostors pass and 12 to 50 % of the owners do not; with decision_threshold 0.8 at most 1 % of the impostors pass, and 30 to 70 % of the owners need the security code'

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
