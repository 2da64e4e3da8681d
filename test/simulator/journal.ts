/** One event; `args` are the arguments that the store got. */
interface Happened {
  readonly process: number
  readonly what: string
  readonly fate: string
  readonly args: readonly unknown[]
}

/** Number of events that are kept, and most characters of the arguments of each. */
const LAST = 60
const TEXT_MAX = 400

/** The latest events, to read after a violation, and counts of all events, which show that each kind happens. */
export function createJournal() {
  const happened: (Happened & { readonly step: number; readonly at: number })[] = []
  const counts = new Map<string, number>()
  let n = 0
  const count = (what: string) => void counts.set(what, (counts.get(what) ?? 0) + 1)
  return {
    log(step: number, at: number, event: Happened) {
      happened[n++ % LAST] = { step, at, ...event }
      if (event.fate !== 'answered' && event.fate !== 'refused') count(event.fate || event.what)
    },
    count,
    counts,
    /** The latest events, oldest first: step, time, process, call, fate, arguments. */
    last: (): string[] =>
      [...happened.slice(n % LAST), ...happened.slice(0, n % LAST)].map(
        ({ step, at, process, what, fate, args }) => `${step} ${at} p${process} ${what} ${fate} ${textOf(args)}`,
      ),
  }
}
export type Journal = ReturnType<typeof createJournal>

const shown = (_: string, value: unknown) =>
  value instanceof Uint8Array ? `${value.length} bytes` : typeof value === 'bigint' ? String(value) : value

const textOf = (args: readonly unknown[]) => JSON.stringify(args, shown).slice(0, TEXT_MAX)
