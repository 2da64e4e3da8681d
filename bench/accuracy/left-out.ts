import { readFileSync } from 'node:fs'
import { loadPeople, splitPeople } from '../../src/calibration/dataset.js'
import { loadSources } from '../../src/calibration/fitted-sources.js'
import { fitFoundation } from '../../src/calibration/foundation.js'
import { fitAmongReferences, livenessPeople } from '../../src/calibration/liveness.js'
import { encodeModel } from '../../src/calibration/model-file.js'
import { MEMORY_MODEL_NAMES, MEMORY_MODELS, strangersOf } from '../../src/calibration/remembered-noise.js'
import { wasmFile } from '../../src/scoring/artifacts.js'
import { createKernel, type Kernel } from '../../src/scoring/kernel.js'
import { countForgeries, rememberingForger, victimsOf } from './forgeries.js'

export interface LeftOut {
  readonly family: string
  readonly model: string
  readonly samples: number
  readonly accepted: number
}

/**
 * Forgeries that are accepted although their family was never fitted: fits the bot signs once without each family (three
 * minutes each), and takes the confidence of `shipped`. This estimates how many forgeries of an unknown kind are accepted.
 */
export function leftOutFigures(
  shipped: Kernel,
  data: string,
  samples: number,
  onProgress: (message: string) => void,
): LeftOut[] {
  const wasm = new Uint8Array(readFileSync(wasmFile()))
  const { fitting, untouched } = splitPeople(loadPeople(data, 'aalto'))
  const people = loadSources({ data, without: null, peopleMax: Number.POSITIVE_INFINITY })
  const { whole } = fitFoundation(wasm, people, 0, onProgress)
  const [victims, strangers] = [victimsOf(untouched), strangersOf(fitting)]
  return [...new Set(Object.values(MEMORY_MODELS).map(({ family }) => family))].flatMap((family) => {
    onProgress(`without ${family} ...`)
    const { trees, base, intercept, allowance } = fitAmongReferences(wasm, whole, livenessPeople(people), {
      seed: 1,
      onShare: () => {},
      leftOut: family,
    })
    const livenessCurve = Float32Array.of(base, 1, intercept, allowance, 0)
    const bot = createKernel(wasm, encodeModel({ ...whole, liveness: trees, livenessCurve }))
    return MEMORY_MODEL_NAMES.filter((model) => MEMORY_MODELS[model].family === family).map((model) => {
      const forger = rememberingForger(model, strangers)
      const { samples: n, accepted } = countForgeries(shipped, forger, victims, { samples, botOf: bot })
      return { family, model, samples: n, accepted }
    })
  })
}
