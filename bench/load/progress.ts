import { shownMs, shownNumber } from './quantities.js'

/** Progress output for the user. */
export interface Progress {
  /** Prints a permanent line. */
  say(text: string): void
  /** Shows progress, `done` of `all`: a bar that is redrawn on a terminal, an occasional line elsewhere. */
  bar(label: string, done: number, all: number, figures?: string): void
  /** Removes the bar. */
  end(): void
}

const WIDTH = 24
/** Least time between two progress lines without a terminal. */
const LINE_EVERY_MS = 5000

/** Writes progress to a stream: standard error, so that standard output holds only the report. */
export function progressOn(stream: NodeJS.WriteStream): Progress {
  let drawn = false
  let label = ''
  let lineAt = 0
  const clear = () => {
    if (drawn) stream.write('\r\x1b[2K')
    drawn = false
  }
  return {
    say(text) {
      clear()
      stream.write(`${text}\n`)
    },
    bar(name, done, all, figures = '') {
      const part = all === 0 ? 1 : Math.min(1, done / all)
      if (stream.isTTY) {
        const filled = Math.round(part * WIDTH)
        const line = `${name} [${'#'.repeat(filled)}${'.'.repeat(WIDTH - filled)}] ${Math.floor(100 * part)} %  ${figures}`
        stream.write(`\r\x1b[2K${line.slice(0, (stream.columns ?? 100) - 1)}`)
        drawn = true
        return
      }
      const now = performance.now()
      if (name === label && now - lineAt < LINE_EVERY_MS) return
      ;[label, lineAt] = [name, now]
      stream.write(`${name}: ${Math.floor(100 * part)} %${figures === '' ? '' : `, ${figures}`}\n`)
    },
    end: clear,
  }
}

/** Figures shown during a step. */
export const liveFigures = (live: {
  perS: number
  p50Ms: number | null
  p99Ms: number | null
  errors: number
}): string =>
  `${shownNumber(live.perS)} sign-ins/s, verify p50 ${shownMs(live.p50Ms)}, p99 ${shownMs(live.p99Ms)}, ${live.errors} errors`
