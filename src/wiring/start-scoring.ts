import { availableParallelism } from 'node:os'
import type { Config } from '../process/config.js'
import type { Logger } from '../process/log.js'
import { modelFile, wasmFile, workerFile } from '../scoring/artifacts.js'
import { createInlineScoring } from '../scoring/inline.js'
import { createScoringPool } from '../scoring/pool.js'
import type { Scoring } from '../scoring/scoring.js'
import { withoutTouchScreens } from '../scoring/touch-screens.js'

/** Starts scoring with the shipped kernel and model. Rejects if they do not load, so that the start fails and not an attempt. */
export async function startScoring(config: Config, log: Logger, workers = workersOf(config)): Promise<Scoring> {
  const scoring = await start(config, log, workers)
  return config.touchScreens === 'refuse' ? withoutTouchScreens(scoring) : scoring
}

/** A process's share of the cores without its main thread, at least one. */
const workersOf = ({ processes }: Config): number => Math.max(1, Math.floor(availableParallelism() / processes) - 1)

async function start(config: Config, log: Logger, workers: number): Promise<Scoring> {
  if (config.scoring === 'inline') return createInlineScoring({ wasmFile: wasmFile(), modelFile: modelFile() })
  const scoring = createScoringPool({
    workerFile: workerFile(),
    wasmFile: wasmFile(),
    modelFile: modelFile(),
    workers,
    log: (message) => log.warn(message),
  })
  try {
    await scoring.score({ body: new Uint8Array(), references: [], replayKey: new Uint8Array(32) })
    return scoring
  } catch (error) {
    await scoring.close()
    throw error
  }
}
