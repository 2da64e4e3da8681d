import { z } from 'zod'
import { momentOf } from '../../domain/time-window.js'
import { Moment, windowProblem } from './dashboard-route.js'

/** Most windows of one call. */
const WINDOWS_MAX = 50

/** Body of a batch: several windows, answered in the same order. */
export const WindowsBody = z
  .object({
    windows: z
      .array(
        z.object({ date_from: Moment, date_to: Moment }).superRefine(({ date_from, date_to }, context) => {
          const problem = windowProblem(date_from, date_to)
          if (problem !== null) context.addIssue({ code: 'custom', path: ['date_from'], message: problem })
        }),
      )
      .min(1)
      .max(WINDOWS_MAX),
  })
  .meta({
    examples: [
      {
        windows: [
          { date_from: '2026-09-01T00:00:00Z', date_to: '2026-10-01T00:00:00Z' },
          { date_from: '2026-10-01T00:00:00Z', date_to: '2026-11-01T00:00:00Z' },
        ],
      },
    ],
  })
export type WindowsBody = z.output<typeof WindowsBody>

/** Computes one window after another: fifty at once would use every database connection. */
export async function eachWindow<T>(
  { windows }: WindowsBody,
  of: (window: { from: number; to: number }) => Promise<T>,
): Promise<(T & { date_from: string; date_to: string })[]> {
  const answers: (T & { date_from: string; date_to: string })[] = []
  for (const { date_from, date_to } of windows) {
    const found = await of({ from: momentOf(date_from), to: momentOf(date_to) })
    answers.push({ date_from, date_to, ...found })
  }
  return answers
}
