import { randomFrom } from '../../src/typist/made-up-person.js'
import { type AnswerRecords, coder, createContext, leaver, newcomer, reader, stranger, visitor } from './soak-askers.js'
import type { Asker } from './steady-load.js'

export interface People extends AnswerRecords {
  /** The next client to send a request. A client is not chosen again before it has its answer. */
  choose(): Asker
  /** Whether enough clients that sign in are enrolled. */
  ready(): boolean
  /** A client that begins a session, which needs a connection to the database. */
  beginner(): Asker
  /** A client with a security code, which needs a hash thread. */
  coder(): Asker
}

interface Crowd {
  readonly apikey: string
  readonly seed: number
  /** Number of clients that sign in. A newly enrolled one replaces the oldest. */
  readonly signers: number
  /** Number of clients that an impostor attacks continuously. */
  readonly beset: number
}

/** Shares of all requests. The other four in five are sign-ins by typing: a new session and three verifies each. */
const SHARES = { enrolling: 0.08, beset: 0.04, codes: 0.04, leaving: 0.02, reading: 0.02 }
/** Share of impostors among the sign-ins by typing. */
const WRONG = 0.05

/** The clients of a mixed load; `seed` fixes their order and their typing. */
export function createPeople({ apikey, seed, signers, beset }: Crowd): People {
  const random = randomFrom(seed)
  const context = createContext(apikey, random)
  const { enrolled, judged, authenticated, deleted, sessionsLost, odd } = context
  const idle = { signing: [], enrolling: [], beset: [], codes: [], leaving: [], reading: [] } as Record<string, Asker[]>
  let [signing, besetNow] = [0, 0]
  /** Newcomers that are enrolled and continue as another client. */
  const finished = new WeakSet<Asker>()

  /** An idle client of this kind, or a new one; null if there is none. It is idle again after its answer. */
  function of(kind: string, make: (() => Asker) | null): Asker | null {
    const asker = idle[kind]?.shift() ?? make?.() ?? null
    if (asker === null) return null
    return {
      next: () => asker.next(),
      heard(status, body) {
        asker.heard(status, body)
        if (!finished.delete(asker)) idle[kind]?.push(asker)
      },
    }
  }
  function comer(): Asker {
    const asker: Asker = newcomer(context, (userRef, typing) => {
      finished.add(asker)
      if (besetNow < beset) {
        besetNow += 1
        // One pattern in five is the owner's.
        idle.beset?.push(visitor(context, userRef, () => (random() < 0.2 ? typing() : stranger(context))))
        return
      }
      idle.signing?.push(visitor(context, userRef, () => (random() < WRONG ? stranger(context) : typing())))
      if (signing < signers) signing += 1
      else idle.signing?.shift()
    })
    return asker
  }
  const newCoder = () => coder(context)
  const enrolling = (): Asker => of('enrolling', comer) ?? comer()
  const ready = () => signing >= signers

  return {
    ...{ enrolled, judged, authenticated, deleted, sessionsLost, odd },
    failed: () => context.nFailed,
    ready,
    choose() {
      if (!ready()) return enrolling()
      let at = random()
      const falls = (share: number) => {
        at -= share
        return at < 0
      }
      const chosen = falls(SHARES.enrolling)
        ? null
        : falls(SHARES.beset)
          ? of('beset', null)
          : falls(SHARES.codes)
            ? of('codes', newCoder)
            : falls(SHARES.leaving)
              ? of('leaving', () => leaver(context))
              : falls(SHARES.reading)
                ? of('reading', () => reader(context))
                : of('signing', null)
      return chosen ?? enrolling()
    },
    coder: () => of('codes', newCoder) ?? newCoder(),
    beginner: () => ({ next: () => context.begin('person-0'), heard: () => {} }),
  }
}
