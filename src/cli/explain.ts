import { readFileSync } from 'node:fs'
import { Command } from 'commander'
import { readTypingPattern } from '../domain/typing-pattern.js'
import { modelFile, wasmFile } from '../scoring/artifacts.js'
import { encodeSample } from '../scoring/sample.js'
import { openScorer } from '../scoring/scorer.js'
import { type Trace, traceOf } from '../scoring/trace.js'
import { explained } from './explained.js'

interface Options {
  readonly reference: readonly string[]
  readonly probe?: string
  readonly patterns?: string
  readonly later?: true
  readonly json?: true
}

/** `keystride explain`: the evidence for and against a person, from typing patterns in files. Reads no store. */
export function explainCommand(run: (work: () => Promise<void>) => Promise<void>): Command {
  return new Command('explain')
    .description('score a typing pattern against references, and print the evidence for and against by key pair')
    .option(
      '--reference <file...>',
      'typing patterns of the person, as the API takes them; several files, or repeated',
      [],
    )
    .option('--probe <file>', 'the typing pattern to score')
    .option('--patterns <file>', 'all patterns in one file instead: {"references": [...], "probe": {...}}')
    .option('--later', 'the probe was typed more than an hour after the last reference')
    .option('--json', 'print the trace: the scored patterns, the result to the last digit, the explanation')
    .addHelpText(
      'after',
      '\nA trace holds how a person types and which keys they pressed: protect it like a password file, and delete it soon.\n' +
        'To try it out: keystride typing-pattern --person 1 --session 1 > 1.json, and so on.',
    )
    .action((options: Options) =>
      run(async () => {
        const trace = tracedFrom(options)
        process.stdout.write(options.json === true ? `${JSON.stringify(trace, null, 2)}\n` : explained(trace))
      }),
    )
}

function tracedFrom(options: Options): Trace {
  const { references, probe } = options.patterns === undefined ? separate(options) : together(options, options.patterns)
  const scorer = openScorer(wasmFile(), modelFile())
  const { referencesMax } = scorer.kernel
  if (references.length === 0)
    throw new Error('no reference came: wanted one typing pattern of the person at the least')
  if (references.length > referencesMax)
    throw new Error(`${references.length} references came: wanted ${referencesMax} at the most`)
  return traceOf(scorer, { probe, references, sitting: options.later === true ? 'later' : 'same' })
}

interface Patterns {
  readonly references: readonly Uint8Array[]
  readonly probe: Uint8Array
}

function separate({ reference, probe }: Options): Patterns {
  if (probe === undefined)
    throw new Error('no probe came: wanted --probe <file>, or all in one file with --patterns <file>')
  return {
    references: reference.map((file) => sampleOf(bytesOf(file), file)),
    probe: sampleOf(bytesOf(probe), probe),
  }
}

function together({ reference, probe }: Options, file: string): Patterns {
  if (probe !== undefined || reference.length > 0)
    throw new Error('--patterns came with --reference or --probe: wanted the one or the other')
  const all = parsed(bytesOf(file), file)
  if (typeof all !== 'object' || all === null || !('references' in all) || !('probe' in all))
    throw new Error(`${file}: wanted an object with references (a list) and probe`)
  if (!Array.isArray(all.references)) throw new Error(`${file}: references is no list`)
  const sample = (pattern: unknown, name: string) => sampleOf(Buffer.from(JSON.stringify(pattern)), `${file}, ${name}`)
  return {
    references: all.references.map((pattern: unknown, i) => sample(pattern, `references.${i}`)),
    probe: sample(all.probe, 'probe'),
  }
}

function bytesOf(file: string): Uint8Array {
  try {
    return new Uint8Array(readFileSync(file))
  } catch (error) {
    const why = (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'there is no such file' : (error as Error).message
    throw new Error(`${file} cannot be read: ${why}`)
  }
}

function parsed(bytes: Uint8Array, file: string): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    throw new Error(`${file}: wanted JSON in UTF-8, ${bytes.length} bytes of something else came`)
  }
}

/** The sample of a pattern. Throws an error with the pattern's name and the field or bound, never with a value. */
function sampleOf(bytes: Uint8Array, name: string): Uint8Array {
  const read = readTypingPattern(bytes)
  if (!read.ok) throw new Error(`${name} is no acceptable typing pattern: ${read.message}`)
  return encodeSample(read.presses, read.pattern.agent.mode)
}
