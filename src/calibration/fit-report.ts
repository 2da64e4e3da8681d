/** Reports of the protocols on people that a fit has not seen. */
import { createKernel, type Kernel } from '../scoring/kernel.js'
import type { Boosted } from './boosting.js'
import { errorsAt } from './confidence.js'
import { type FittableSet, reportedPeople } from './dataset.js'
import { bySource, FITTABLE, type Sources } from './fitted-sources.js'
import type { Foundation } from './foundation.js'
import { type Fit, type Fusions, fusionsOf } from './fusion-fits.js'
import { bootstrapIntervals, type Figures, figuresOf, type Intervals, type PersonScores } from './metrics.js'
import { encodeModel } from './model-file.js'
import { PROTOCOLS, type ProtocolName, runProtocol } from './protocols.js'

/** Results of a protocol with models that were fitted without the people it reports. */
export interface Reported {
  readonly figures: Figures
  readonly intervals: Intervals
  /** False matches and false non-matches at a confidence of 0.5. */
  readonly atHalf: { readonly fmr: number; readonly fnmr: number }
}

/** People of a source in a report, because each is compared with every other of its fold. */
const REPORTED_MAX = 1000

/** Reports the people of each fold by the model that was fitted without them. */
export const reportOutOfFold = (
  { wasm, people }: Fit,
  { folds }: Foundation,
  { folds: [same, later], lines }: Fusions,
): Record<string, Reported> =>
  report(
    folds.map((parts, fold) => ({
      kernel: createKernel(
        wasm,
        encodeModel({ ...parts, fusions: fusionsOf([same[fold] as Boosted, later[fold] as Boosted], lines) }),
      ),
      people: bySource((source) => people[source].slice(0, REPORTED_MAX).filter((_, i) => i % folds.length === fold)),
    })),
    FITTABLE,
  )

/** Reports the left-out source by a model that was fitted without it. */
export const reportLeftOut = (kernel: Kernel, data: string, without: FittableSet): Record<string, Reported> => {
  const people = bySource((source) => (source === without ? reportedPeople(data, source) : []))
  return report([{ kernel, people }], [without])
}

/** Runs the protocols of these sources within each group of people, on a model fitted without the group, and pools the results. */
function report(
  groups: readonly { readonly kernel: Kernel; readonly people: Sources }[],
  sources: readonly FittableSet[],
): Record<string, Reported> {
  const pooled: Record<string, { fused: PersonScores[]; confidence: PersonScores[] }> = {}
  for (const { kernel, people } of groups) {
    for (const name of Object.keys(PROTOCOLS) as ProtocolName[]) {
      const { source, sitting, of } = PROTOCOLS[name]
      // A set that may not be fitted is in no list of sources.
      const fittable = sources.find((one) => one === source)
      if (fittable === undefined) continue
      const scores = runProtocol(kernel, of(people[fittable]), sitting)
      const all = pooled[name] ?? { fused: [], confidence: [] }
      pooled[name] = all
      all.fused.push(...scores.fused)
      all.confidence.push(...scores.confidence)
    }
  }
  return Object.fromEntries(
    Object.entries(pooled)
      .filter(([, scores]) => scores.fused.length > 1)
      .map(([name, scores]) => [
        name,
        {
          figures: figuresOf(scores.fused),
          intervals: bootstrapIntervals(scores.fused, 200, 1),
          atHalf: errorsAt(0.5, scores.confidence),
        },
      ]),
  )
}
