import type { Circumstances, Device, Habits } from './circumstances.js'
import { outcomeOf, usual } from './habit.js'
import type { Signal, SignalWeights } from './signal.js'

/** Properties of the machine weigh more than settings of the person. The weights are not measured. */
export const DEVICE_WEIGHTS = {
  browser: 2,
  os: 3,
  kind: 2,
  screen: 1,
  time_zone: 2,
  language: 2,
  gpu: 2,
  fonts: 1,
  cpu_threads: 1,
} as const satisfies Readonly<Record<keyof Device, number>>

// Sound: `satisfies` makes the keys of the weights those of Device.
export const DEVICE_SIGNALS = Object.keys(DEVICE_WEIGHTS) as (keyof Device)[]

/** Compares the device's properties with those of past successes. */
export function deviceSignals({ device }: Circumstances, { values = {} }: Habits, weights: SignalWeights): Signal[] {
  return DEVICE_SIGNALS.map((signal) => ({
    signal,
    value: device?.[signal] ?? null,
    reference: usual(values[signal] ?? []),
    weight: weights[signal] ?? 0,
    computedOutcome: outcomeOf(values[signal], device?.[signal] ?? null),
  }))
}
