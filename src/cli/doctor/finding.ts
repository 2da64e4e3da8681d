import type { Reading } from '../../storage/inspection.js'

/** `note`: for the operator's attention, or a check that could not be done. `problem`: the service does not work, or data is at risk. */
type Level = 'ok' | 'note' | 'warning' | 'problem'

/** One result of a check. */
export interface Finding {
  readonly area: string
  readonly level: Level
  /** One sentence with the result, without a secret. */
  readonly found: string
  /** One sentence with the remedy; null if none is needed. */
  readonly advice: string | null
}

/** Constructors of the findings of one area. */
export function findingsOf(area: string) {
  const at =
    (level: Level) =>
    (found: string, advice: string): Finding => ({ area, level, found, advice })
  const note = at('note')
  return {
    ok: (found: string): Finding => ({ area, level: 'ok', found, advice: null }),
    note,
    warning: at('warning'),
    problem: at('problem'),
    /** The findings about a value; a note if the value could not be read. */
    ofReading: <T>(what: string, reading: Reading<T>, check: (value: T) => Finding | readonly Finding[]): Finding[] =>
      'unread' in reading
        ? [
            note(
              `${what} could not be read: ${reading.unread}.`,
              reading.denied
                ? 'Give the login the right, or check it by hand.'
                : 'Correct what the reason names, and run this again.',
            ),
          ]
        : [check(reading.value)].flat(),
  }
}

/** Bytes in the largest fitting unit, such as `1.5 GiB`. */
export function size(bytes: number): string {
  const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB']
  const power = bytes < 1024 ? 0 : Math.min(4, Math.floor(Math.log2(bytes) / 10))
  return `${Number((bytes / 1024 ** power).toPrecision(3))} ${units[power]}`
}

/** A time span in the largest fitting unit, such as `3 h`. */
export function span(seconds: number): string {
  if (seconds < 120) return `${Math.round(seconds)} s`
  if (seconds < 2 * 3600) return `${Math.round(seconds / 60)} min`
  return seconds < 48 * 3600 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86_400)} days`
}

/** `1 person`, `2 people`. */
export const count = (n: number, one: string, several = `${one}s`): string =>
  `${n.toLocaleString('en')} ${n === 1 ? one : several}`
