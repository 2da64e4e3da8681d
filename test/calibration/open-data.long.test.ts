import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { loadPeople, splitPeople } from '../../src/calibration/dataset.js'
import { figuresOf } from '../../src/calibration/metrics.js'
import { runProtocol, varyingText } from '../../src/calibration/protocols.js'
import { modelFile, wasmFile } from '../../src/scoring/artifacts.js'
import { createKernel } from '../../src/scoring/kernel.js'
import { encodeSample } from '../../src/scoring/sample.js'

const folder = process.env.KEYSTRIDE_DATA_SETS ?? ''
const skipped = folder === ''
const read = (file: string) => new Uint8Array(readFileSync(file))
/** A hundred of the people that the model was not fitted on: a tenth of the bench's impostor pairs, tested in seconds. */
const untouched = () => splitPeople(loadPeople(folder, 'aalto')).untouched.slice(0, 100)

const title = `the shipped model on people it was not fitted on${skipped ? ' — SKIPPED: set KEYSTRIDE_DATA_SETS to the folder of the open data sets' : ''}`
describe.skipIf(skipped)(title, () => {
  it('keeps the equal error rate of P1 under 5 %, per user under 2.5 %', () => {
    const { fused, confidence } = runProtocol(
      createKernel(read(wasmFile()), read(modelFile())),
      varyingText(untouched(), 50),
    )
    const { global_eer, per_user_eer } = figuresOf(fused)
    expect(global_eer).toBeLessThan(0.05)
    expect(per_user_eer).toBeLessThan(0.025)
    const impostors = confidence.flatMap(({ impostor }) => impostor)
    // The claim is 1 % on all 329 people; on a hundred, the statistical uncertainty is half of that.
    expect(impostors.filter((score) => score >= 0.5).length / impostors.length).toBeLessThan(0.015)
  })

  it('classifies at most one sincere pattern in 200 as a bot', () => {
    const kernel = createKernel(read(wasmFile()), read(modelFile()))
    const patterns = [...untouched(), ...loadPeople(folder, 'nislab')]
      .flatMap(({ sessions }) => [...sessions.values()])
      .filter((session) => session.length >= 15)
    const called = patterns.filter(
      (session) => kernel.score(encodeSample(session.slice(0, 50), 'visible'), []).botLikelihood > 0.5,
    )
    expect(called.length / patterns.length).toBeLessThanOrEqual(0.005)
  })
})
