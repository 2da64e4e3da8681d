import { readFileSync, rmSync } from 'node:fs'
import type { Sitting } from '../domain/sitting.js'
import { wasmFile } from '../scoring/artifacts.js'
import { createKernel } from '../scoring/kernel.js'
import type { FittableSet } from './dataset.js'
import { type Reported, reportLeftOut, reportOutOfFold } from './fit-report.js'
import { FITTABLE, LESSONS, loadSources, type Selection, type Sources } from './fitted-sources.js'
import { embeddingSources, type Foundation, fitFoundation, withEmbeddings, withoutFold } from './foundation.js'
import { type Fit, FOLDS, fitFusions, fusionsOf, SECONDS, SITTINGS, TREES } from './fusion-fits.js'
import { encodeModel, type ModelParts, withSynthesis } from './model-file.js'
import { createProgress, runTasks, type Task, type Works, writeWhole } from './tasks.js'

type OnProgress = (message: string) => void

interface CalibrateOptions {
  /** Folder of the open data sets. */
  readonly data: string
  /** Model file to write; an interrupted run keeps its finished parts in files next to it. */
  readonly out: string
  readonly seed: number
  /** A source that is reported and not fitted, which shows how the model serves other keyboards and people. */
  readonly without?: FittableSet | undefined
  /** Most people of a source that are fitted on, the first ones; all by default. */
  readonly peopleMax?: number | undefined
  readonly onProgress?: OnProgress
}

interface Calibrated {
  readonly bytes: number
  /** Results of the protocols on fitted sources, by models without the people of each fold; none for a model without a source. */
  readonly outOfFold: Readonly<Record<string, Reported>>
  /** Results of the protocols on the source that was left out. */
  readonly leftOut: Readonly<Record<string, Reported>>
  /** Share of genuine attempts at which the confidence is a calibrated probability. */
  readonly priors: Readonly<Record<Sitting, number>>
}

const EMBEDDING = { steps: 8000, hidden: 256 }
/** Comparisons of one person in one draw: five rounds of about 30. */
const COMPARISONS = 150

/**
 * Fits a model on all sources that may be fitted, and writes it. The fusion of each sitting is fitted once on all people and once
 * without each of four folds, which give the calibration and the out-of-fold figures. The same data, seed and build give the same
 * bytes. A model `without` a source is fitted without one of two folds, which gives its calibration, and detects no bots. Throws if
 * the files of varying and of composed text are missing.
 */
export async function calibrate(options: CalibrateOptions): Promise<Calibrated> {
  const { data, out, seed, without = null, peopleMax = Number.POSITIVE_INFINITY, onProgress = () => {} } = options
  const wasm = new Uint8Array(readFileSync(wasmFile()))
  const selection: Selection = { data, without, peopleMax }
  const people = loadSources(selection)
  onProgress(`fitting on ${FITTABLE.map((source) => `${people[source].length} of ${source}`).join(', ')}`)
  const keeping = { kept: out, progress: createProgress(expectedSeconds(people, without), onProgress) }
  const fit: Fit = { wasm, selection, people, seed, keeping }
  const bare = fitFoundation(wasm, people, without === null ? FOLDS.all : FOLDS.without, onProgress)
  const embedding = await runTasks(embeddingTasks(fit, bare), keeping)
  const foundation = withEmbeddings(bare, embedding.results)
  const fusions = await fitFusions(fit, foundation, without === null ? livenessTasks(fit, foundation.whole) : [])
  const parts: ModelParts = { ...foundation.whole, fusions: fusionsOf(fusions.whole, fusions.lines) }
  const bytes = without === null ? withSigns(parts, fusions.signs) : encodeModel(parts)
  writeWhole(out, bytes)
  for (const file of [...embedding.files, ...fusions.files]) rmSync(file)
  onProgress('report')
  return {
    bytes: bytes.length,
    outOfFold: without === null ? reportOutOfFold(fit, foundation, fusions) : {},
    leftOut: without === null ? {} : reportLeftOut(createKernel(wasm, bytes), data, without),
    priors: { same: fusions.lines[0].prior, later: fusions.lines[1].prior },
  }
}

/** Expected seconds of all tasks. */
function expectedSeconds(people: Sources, without: FittableSet | null): number {
  const { comparisons, confidence, embeddingStep, liveness, loneLiveness, synthesis, treeRow } = SECONDS
  const trees = SITTINGS.map((sitting) => {
    const persons = FITTABLE.map((source) => people[source].length * LESSONS[source].draws[sitting])
    const rows = COMPARISONS * persons.reduce((sum, n) => sum + n, 0)
    return treeRow * TREES[sitting] * rows * (without === null ? FOLDS.all + 1 : 1)
  })
  const networks = (without === null ? FOLDS.all : FOLDS.without) + 1
  const signs = without === null ? liveness + loneLiveness + synthesis : 0
  const perSitting = trees.reduce((sum, seconds) => sum + seconds + comparisons + confidence, 0)
  return networks * embeddingStep * EMBEDDING.steps + perSitting + signs
}

/** A network without each fold, and then one of all people. */
function embeddingTasks({ wasm, people, seed }: Fit, { whole, folds }: Foundation): Task<'embedding'>[] {
  const sources = embeddingSources(createKernel(wasm, encodeModel(whole)), people)
  return [...folds.keys(), null].map((fold) => ({
    name: fold === null ? 'embedding' : `embedding without fold ${fold}`,
    work: 'embedding',
    input: {
      sources: sources.map((source) => withoutFold(source, fold, folds.length)),
      options: { ...EMBEDDING, seed },
    },
    seconds: SECONDS.embeddingStep * EMBEDDING.steps,
  }))
}

const livenessTasks = ({ selection, seed }: Fit, parts: ModelParts): Task<keyof Works>[] => [
  { name: 'bot signs with references', work: 'liveness', input: { selection, parts, seed }, seconds: SECONDS.liveness },
  {
    name: 'bot signs of patterns alone',
    work: 'loneLiveness',
    input: { selection, parts, seed },
    seconds: SECONDS.loneLiveness,
  },
  { name: 'signs of synthesis', work: 'synthesis', input: { selection, parts, seed }, seconds: SECONDS.synthesis },
]

/** The model with the results of `livenessTasks`. */
function withSigns(parts: ModelParts, results: readonly Works[keyof Works]['result'][]): Uint8Array {
  // Sound: the results are in the order of the tasks.
  const [among, lone, synthesis] = results as [
    Works['liveness']['result'],
    Works['loneLiveness']['result'],
    Works['synthesis']['result'],
  ]
  const model = encodeModel({
    ...parts,
    liveness: among.trees,
    loneLiveness: lone.trees,
    livenessCurve: Float32Array.of(among.base, 1, among.intercept, among.allowance, lone.base + lone.intercept),
  })
  return withSynthesis(model, synthesis)
}
