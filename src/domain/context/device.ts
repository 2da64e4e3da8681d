import type { Circumstances, Device, Habits } from './circumstances.js'
import { outcomeOf, usual } from './habit.js'
import type { Signal, SignalWeights } from './signal.js'

/** What a machine is weighs more than what a person sets on it. No measurement behind the weights. */
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

// Sound: the keys of the weights are those of Device, see `satisfies`.
export const DEVICE_SIGNALS = Object.keys(DEVICE_WEIGHTS) as (keyof Device)[]

/** What the device says of itself, beside what the devices of past successes said. */
export function deviceSignals({ device }: Circumstances, { values = {} }: Habits, weights: SignalWeights): Signal[] {
  return DEVICE_SIGNALS.map((signal) => ({
    signal,
    value: device?.[signal] ?? null,
    reference: usual(values[signal] ?? []),
    weight: weights[signal] ?? 0,
    computedOutcome: outcomeOf(values[signal], device?.[signal] ?? null),
  }))
}
