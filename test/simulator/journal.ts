/** One event; args as the store was given them. */
interface Happened {
  readonly process: number
  readonly what: string
  readonly fate: string
  readonly args: readonly unknown[]
}

/** Events kept, and characters of each one's arguments. */
const LAST = 60
const TEXT_MAX = 400

/** What happened, to be read where something did not hold; and how often, to see that it does happen. */
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
    /** The latest events, oldest first: step, time, process, what, fate, arguments. */
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
