import { makersOf } from './client-calls.js'
import { type ClientNeeds, createDraws } from './client-draws.js'
import type { Request } from './request.js'

/** The clients of the service, legitimate and hostile. */
export function createClients(needs: ClientNeeds) {
  const { random, scheduler } = needs
  const draws = createDraws(needs)
  const make = makersOf(draws)
  const { missed, usedUp, turn, pause } = draws
  return {
    ...{ missed, usedUp, turn, pause },
    /** The next call, to one of `processes` processes; null if the drawn call is not possible. */
    next(processes: number): Request | null {
      const who = draws.whom()
      const kind = draws.first(draws.kind(), who)
      const made = make[kind](who)
      if (made === null) return null
      const process = random.below(processes)
      return { kind, process, who, beganAt: scheduler.step(), at: scheduler.now(), ...made }
    },
  }
}
