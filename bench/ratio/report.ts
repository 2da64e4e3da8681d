import type { scanOverParse } from '../path/scan-over-parse.js'
import type { ServingMachine } from '../shared/machine.js'
import { median, type Spread, spreadOf } from '../shared/spread.js'
import type { Measured } from './generators.js'
import { type RatioOptions, type RatiosMeasured, TURNS, type Turn } from './measure.js'

/** Median of the ratio of two turns in each round: a temporary slowdown of the machine affects both. */
const over = (above: readonly Measured[], below: readonly Measured[], of: (one: Measured) => number): Spread =>
  spreadOf(above.map((one, round) => of(one) / (below[round] === undefined ? Number.NaN : of(below[round]))))

const perSecond = ({ per_s }: Measured) => per_s
/** Processor time of an answer in the fronts, PostgreSQL and Redis, µs. */
const processorUs = ({ server_cpu_us, postgres_cpu_us, redis_cpu_us }: Measured) =>
  [server_cpu_us, postgres_cpu_us, redis_cpu_us].reduce<number>((sum, us) => sum + (us ?? Number.NaN), 0)

/** The ratios, those of sign-ins and those of a provider; false without such turns. */
function ratiosOf(turns: RatiosMeasured['turns']) {
  const ratios = {
    verify_over_read_only_64: over(turns.verify_64, turns.read_only_64, perSecond),
    verify_over_read_only_256: over(turns.verify_256, turns.read_only_256, perSecond),
    verify_over_peer: over(turns.verify_64, turns.peer_64, perSecond),
    verify_over_spared_peer: over(turns.verify_64, turns.spared_peer_64, perSecond),
    two_over_one: over(turns.verify_64, turns.verify_one_front_64, perSecond),
    embedded_over_redis: over(turns.verify_without_redis_64, turns.verify_64, perSecond),
    p99_over_peer_at_its_highest_rate: over(turns.verify_at_peer_rate, turns.peer_64, ({ p99_ms }) => p99_ms),
    verify_16_over_64: over(turns.verify_16, turns.verify_64, processorUs),
  }
  const signIns = turns.signin_64.length > 0 && {
    signin_over_peer: over(turns.signin_64, turns.peer_signin_64, perSecond),
    signin_cpu_over_verify: over(turns.signin_64, turns.verify_64, processorUs),
    signin_half_p99_ms: spreadOf(turns.signin_half.map(({ p99_ms }) => p99_ms)),
  }
  const by = turns.verify_by_provider_64.length > 0 && {
    provider_over_own: over(turns.verify_by_provider_64, turns.verify_one_front_64, perSecond),
  }
  return { ratios, signIns, by }
}

/** The report of `bench -- ratio`: ratios first, then their inputs. */
export function ratioReport(
  measured: RatiosMeasured,
  scan: ReturnType<typeof scanOverParse>,
  options: RatioOptions,
  machine: ServingMachine,
) {
  const { turns } = measured
  const { ratios, signIns, by } = ratiosOf(turns)
  const middle = (spread: Spread) => spread.median
  return {
    verify_over_read_only_64: middle(ratios.verify_over_read_only_64),
    verify_over_read_only_256: middle(ratios.verify_over_read_only_256),
    verify_over_peer: middle(ratios.verify_over_peer),
    verify_over_spared_peer: middle(ratios.verify_over_spared_peer),
    scan_over_parse: scan.ratio,
    two_over_one: middle(ratios.two_over_one),
    embedded_over_redis: middle(ratios.embedded_over_redis),
    p99_over_peer_at_its_highest_rate: middle(ratios.p99_over_peer_at_its_highest_rate),
    verify_16_over_64: middle(ratios.verify_16_over_64),
    ...(signIns && {
      signin_over_peer: middle(signIns.signin_over_peer),
      signin_cpu_over_verify: middle(signIns.signin_cpu_over_verify),
      signin_half_p99_ms: middle(signIns.signin_half_p99_ms),
    }),
    ...(by && { provider_over_own: middle(by.provider_over_own) }),
    idle_cpu_percent: measured.idleCpuPercent,
    bars: barsOf({
      ...Object.fromEntries(
        Object.entries({ ...ratios, ...signIns }).map(([name, { median: value }]) => [name, value]),
      ),
      scan_over_parse: scan.ratio,
      ...(measured.idleCpuPercent === null ? {} : { idle_cpu_percent: measured.idleCpuPercent }),
    }),
    by_processor_time: byProcessorTime(turns),
    spread: { ...ratios, ...signIns, ...by },
    scan,
    turns: Object.fromEntries(
      TURNS.filter((turn) => turns[turn].length > 0).map((turn) => [turn, turnReport(turns[turn])]),
    ),
    body_bytes: measured.body_bytes,
    resident_bytes: measured.resident,
    ...options,
    scoring: 'inline',
    machine,
    at: new Date().toISOString(),
  }
}

/** Bounds of each ratio: at least `least`, at most `most`. */
const BARS: Readonly<Record<string, { readonly least?: number; readonly most?: number }>> = {
  verify_over_read_only_64: { least: 0.08 },
  verify_over_read_only_256: { least: 0.19 },
  verify_over_peer: { least: 8 },
  scan_over_parse: { most: 0.25 },
  two_over_one: { least: 1.15 },
  embedded_over_redis: { least: 0.45 },
  p99_over_peer_at_its_highest_rate: { most: 0.5 },
  verify_16_over_64: { most: 1.6 },
  signin_over_peer: { least: 8 },
  signin_cpu_over_verify: { most: 2 },
  signin_half_p99_ms: { most: 10 },
  idle_cpu_percent: { most: 1 },
}

const barsOf = (found: Readonly<Record<string, number>>) =>
  Object.fromEntries(
    Object.entries(BARS).flatMap(([name, { least, most }]) => {
      const value = found[name]
      if (value === undefined) return []
      const held = (least === undefined || value >= least) && (most === undefined || value <= most)
      return [[name, { ...(least === undefined ? { most } : { least }), held }]]
    }),
  )

/**
 * Ratios of the fronts' processor time per answer, without the load generator, PostgreSQL and Redis, which share the
 * machine. A generator slower than the server under test raises the ratios of requests a second, but not these.
 */
function byProcessorTime(turns: RatiosMeasured['turns']) {
  const cost = (turn: Turn) => median(turns[turn].flatMap(({ server_cpu_us }) => server_cpu_us ?? []))
  const share = (above: Turn, below: Turn) => Number((cost(below) / cost(above)).toPrecision(4))
  return {
    verify_over_read_only_64: share('verify_64', 'read_only_64'),
    verify_over_read_only_256: share('verify_256', 'read_only_256'),
    verify_over_peer: share('verify_64', 'peer_64'),
    verify_over_spared_peer: share('verify_64', 'spared_peer_64'),
    ...(turns.verify_by_provider_64.length > 0 && {
      provider_over_own: share('verify_by_provider_64', 'verify_one_front_64'),
    }),
  }
}

function turnReport(runs: readonly Measured[]) {
  const of = (pick: (one: Measured) => number | null) => spreadOf(runs.map((one) => pick(one) ?? Number.NaN))
  return {
    per_s: of(perSecond),
    p50_ms: of(({ p50_ms }) => p50_ms),
    p99_ms: of(({ p99_ms }) => p99_ms),
    server_cpu_us: of(({ server_cpu_us }) => server_cpu_us),
    postgres_cpu_us: of(({ postgres_cpu_us }) => postgres_cpu_us),
    redis_cpu_us: of(({ redis_cpu_us }) => redis_cpu_us),
    generator_cpu_us: of(({ generator_cpu_us }) => generator_cpu_us),
    runs,
  }
}
