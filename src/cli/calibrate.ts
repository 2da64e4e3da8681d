import { Command, Option } from 'commander'
import { calibrate } from '../calibration/calibrate.js'
import type { FittableSet } from '../calibration/dataset.js'
import { FITTABLE } from '../calibration/fitted-sources.js'
import { seed, whole } from './arguments.js'

interface Options {
  readonly data: string
  readonly out: string
  readonly seed: number
  readonly without?: FittableSet
  readonly people?: number
}

/** `keystride calibrate`: fits a scoring model. */
export function calibrateCommand(run: (work: () => Promise<void>) => Promise<void>): Command {
  return new Command('calibrate')
    .description(
      'fit a scoring model on the open typing data, on every core; shows progress and the time left on standard error; an interrupted run is resumed by the same command',
    )
    .requiredOption(
      '--data <folder>',
      'folder with the open data sets; aalto_desktop.tsv.gz or klicke_essays.tsv.gz at least',
    )
    .requiredOption('--out <file>', 'model file to write')
    .option('--seed <number>', 'the same data, seed and build give the same bytes', seed, 1)
    .option(
      '--people <number>',
      'fit on the first people of each source only, which is faster and worse',
      whole(200, 1_000_000),
    )
    .addOption(
      new Option(
        '--without <source>',
        'report on this source and do not fit it; the model is not for a service',
      ).choices(FITTABLE),
    )
    .action((options: Options) =>
      run(async () => {
        const began = Date.now()
        const onProgress = (message: string) =>
          process.stderr.write(`${String(Math.round((Date.now() - began) / 1000)).padStart(5)} s  ${message}\n`)
        const { bytes, priors, outOfFold, leftOut } = await calibrate({
          ...options,
          peopleMax: options.people,
          onProgress,
        })
        for (const [name, found] of Object.entries(outOfFold))
          process.stdout.write(`${name}, out of fold: ${JSON.stringify(found)}\n`)
        for (const [name, found] of Object.entries(leftOut))
          process.stdout.write(`${name}, left out: ${JSON.stringify(found)}\n`)
        for (const [sitting, prior] of Object.entries(priors))
          process.stdout.write(
            `${sitting} sitting: confidence is a probability if a share of ${prior} of the attempts is genuine\n`,
          )
        process.stdout.write(`${options.out}: ${bytes} bytes\n`)
      }),
    )
}
