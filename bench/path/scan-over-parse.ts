import { readFileSync } from 'node:fs'
import Benchmark from 'benchmark'
import { TypingPattern } from '../../src/domain/typing-pattern.js'
import { modelFile, wasmFile } from '../../src/scoring/artifacts.js'
import { createKernel } from '../../src/scoring/kernel.js'
import { bodyOf } from '../ratio/people.js'
import { type Spread, spreadOf } from '../shared/spread.js'

/** Uncounted rounds for the compiler. */
const WARM_UP = 10
/** Minimum duration of a turn, seconds: a thousand ticks of the clock. */
const TURN_S = 0.002

/**
 * Microseconds a call of each, over `rounds` in which all alternate, so that a busy machine slows all equally. The library's
 * suites finish one before the next, so only its clock is used, once a turn, over at least `callsARound` calls.
 */
export function inTurn<N extends string>(
  calls: Readonly<Record<N, () => unknown>>,
  rounds: number,
  callsARound: number,
): Record<N, Spread> {
  const names = Object.keys(calls) as N[]
  const times = names.map((): number[] => [])
  const once = { initCount: callsARound, minTime: TURN_S, minSamples: 1, maxTime: 0 }
  const clocks = names.map((name) => new Benchmark(name, calls[name], once))
  for (let round = -WARM_UP; round < rounds; round++) {
    for (const [i, clock] of clocks.entries()) {
      clock.reset().run()
      if (clock.error !== undefined) throw clock.error
      if (round >= 0) times[i]?.push(1e6 * clock.stats.mean)
    }
  }
  // Sound: one entry a name.
  return Object.fromEntries(names.map((name, i) => [name, spreadOf(times[i] ?? [])])) as Record<N, Spread>
}

/** Ratio of scanning a 14 kB pattern with its features to JSON.parse and the schema of the same bytes. */
export function scanOverParse(rounds = 61, callsARound = 20) {
  const kernel = createKernel(readFileSync(wasmFile()), readFileSync(modelFile()))
  const body = Buffer.from(bodyOf(3, 6))
  const us = inTurn(
    {
      scan_and_features: () => kernel.read(0, kernel.scan(body)?.sample ?? new Uint8Array()),
      parse_and_schema: () => TypingPattern.parse(JSON.parse(body.toString())),
    },
    rounds,
    callsARound,
  )
  const ratio = Number((us.scan_and_features.median / us.parse_and_schema.median).toPrecision(4))
  const shown = ({ median, min, max }: Spread) => ({ median, min, max })
  return {
    ratio,
    body_bytes: body.length,
    scan_and_features_us: shown(us.scan_and_features),
    parse_and_schema_us: shown(us.parse_and_schema),
  }
}
