import { CapacityCosts } from '../../src/capacity/costs.js'
import { PATH_VERSION } from '../../src/flows/attempt/path-version.js'
import type { ServingMachine } from '../shared/machine.js'
import { type measureCosts, rangeOf } from './costs.js'
import type { SignInsMeasured } from './signin.js'
import type { PathMeasured } from './steps.js'

type BytesOfSignIns = `${'wal' | 'redis_session' | 'redis_carried' | 'comparison_set' | 'process'}_bytes`

/** Measurements apart from those of single requests: the steps of a verify, and whole sign-ins. */
interface MeasuredAlone {
  readonly path: Pick<PathMeasured, 'steps_ms' | 'whole_p99_ms'>
  readonly signIns: Pick<SignInsMeasured, 'cost' | 'blocks_read' | BytesOfSignIns>
}

/** The table of costs for `keystride plan`. */
export function costTable(
  { requests, bytes }: Awaited<ReturnType<typeof measureCosts>>,
  { path, signIns }: MeasuredAlone,
  { cores, cpu, node, http_server }: ServingMachine,
  presses: number,
): CapacityCosts {
  return CapacityCosts.parse({
    schema: 'keystride-costs/2',
    measured_at: new Date().toISOString().slice(0, 10),
    path_version: PATH_VERSION,
    machine: `${cores} x ${cpu}, Node ${node}, ${http_server}`,
    scoring: 'inline',
    presses,
    requests: { signin: signIns.cost, ...requests },
    blocks_read: signIns.blocks_read,
    commit_ms: rangeOf(path.steps_ms['postgres: record and commit, alone']),
    unloaded_p99_ms: rangeOf(path.whole_p99_ms),
    bytes: {
      ...bytes,
      comparison_set: signIns.comparison_set_bytes,
      wal: signIns.wal_bytes,
      session: signIns.redis_session_bytes,
      carried: signIns.redis_carried_bytes,
      process: signIns.process_bytes,
    },
  })
}
