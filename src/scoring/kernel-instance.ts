import { KEYS_BY_CODE, KEYS_BY_KEY_CODE } from '../domain/key-table.js'
import { REPLAY_BANDS } from '../domain/replay.js'
import { readableSample } from './sample.js'

/** The part of the WebAssembly interface that is used here: TypeScript declares it only in the browser's library. */
interface WasmInstance {
  readonly exports: Readonly<Record<string, unknown>>
}
interface WasmInterface {
  readonly Module: new (bytes: Uint8Array) => object
  readonly Instance: new (module: object, imports: object) => WasmInstance
}
// Node provides WebAssembly with the constructors of the standard (JavaScript interface, W3C 2019).
const { Module, Instance } = (globalThis as unknown as { readonly WebAssembly: WasmInterface }).WebAssembly

/** The exports of a module of `assembly/`. Its failed assertions throw a KernelTrap. */
const exportsOf = (module: object): WasmInstance['exports'] =>
  new Instance(module, {
    env: {
      abort(_message: number, _file: number, line: number, column: number) {
        throw new KernelTrap(`the module's assertion at line ${line}, column ${column} failed`)
      },
    },
  }).exports

/** The exports of a module's bytes. */
export const instanceOf = (bytes: Uint8Array): WasmInstance['exports'] => exportsOf(new Module(bytes))

/** The functions that the module exports. */
interface Surface {
  readonly memory: { readonly buffer: ArrayBuffer }
  readonly loadModel: (bytes: number) => number
  readonly readOne: (slot: number) => number
  /** `sitting`: 0 the same, 1 a later one. */
  readonly score: (references: number, sitting: number) => void
  readonly scoreRead: (references: number, sitting: number) => void
  readonly scoreKept: (sitting: number) => void
  readonly keepTemplate: (references: number) => number
  readonly enroll: (references: number) => void
  readonly compare: (references: number) => number
  readonly examineProbe: (references: number) => number
  readonly nearestReplay: (references: number) => number
  readonly explain: () => number
  readonly nameKey: (text: number, bytes: number, key: number) => void
  readonly scan: (bytes: number) => number
  readonly mark: (presses: number) => void
  readonly copies: (bytes: number) => void
  readonly examineKnown: (slot: number) => number
  readonly synthesized: () => number
}

const LAYOUT_VERSION = 11
/** Words of SCANNED (table in `assembly/scan.ts`). */
const SCANNED_WORDS = 62
/** Numbers of TIMES: press and release of 500 presses. */
const TIMES = 1000
/** Bytes of MARK before `exact` and before the bands (table in `assembly/replay-mark.ts`). */
export const MARK_EXACT_AT = 32
export const MARK_BANDS_AT = 48
const utf8Encoder = new TextEncoder()
const MODEL_PROBLEMS: Readonly<Record<number, string>> = {
  1: 'not a Keystride model',
  2: 'a model of another version or shape',
  3: 'a damaged model: its length differs from its header',
}

/** Thrown for a failed assertion or a trap inside the kernel: a bug or a damaged sample. */
export class KernelTrap extends Error {
  override readonly name = 'KernelTrap'
}

/** One instance of the module over one model, with views of its memory, which never grows. */
export interface KernelInstance {
  readonly surface: Surface
  /** Value of an exported address or constant. Throws if the module does not export it. */
  readonly address: (name: string) => number
  readonly bytes: Uint8Array
  /** RESULT, 8 numbers. */
  readonly result: Float64Array
  /** SCANNED. */
  readonly scanned: Int32Array
  /** TIMES, 1,000 numbers. */
  readonly times: Float64Array
  /** The bands in MARK. */
  readonly bands: BigInt64Array
  /** COPIED: its first three numbers, and the same bytes as integers. */
  readonly copied: Float64Array
  readonly copiedFrom: Int32Array
  /** The whole memory, to decode text from. */
  readonly text: Buffer
  /** Addresses and sizes for the hot paths, because `address` reads a WebAssembly global, which is slower. */
  readonly samples: number
  readonly slotBytes: number
  readonly bodyAt: number
  readonly bodyBytesMax: number
  readonly markAt: number
  readonly preparedAt: number
  readonly probeSketchAt: number
  readonly knownSketchesAt: number
}

function instantiate(module: object, model: Uint8Array): KernelInstance {
  const exports = exportsOf(module)
  // Sound: the module is built from assembly/, and LAYOUT_VERSION, checked below, identifies its exports.
  const surface = exports as unknown as Surface
  const address = (name: string): number => {
    const exported = exports[name] as { readonly value: number } | undefined
    if (exported === undefined) throw new Error(`scoring.wasm exports no ${name}`)
    return exported.value
  }
  if (address('LAYOUT_VERSION') !== LAYOUT_VERSION) throw new Error('scoring.wasm has another memory layout')
  if (model.length > address('MODEL_BYTES_MAX')) throw new Error('the model is larger than 4 MiB')
  new Uint8Array(surface.memory.buffer).set(model, address('MODEL'))
  const problem = surface.loadModel(model.length)
  if (problem !== 0) throw new Error(MODEL_PROBLEMS[problem] ?? 'the model was refused')
  const { buffer } = surface.memory
  const bytes = new Uint8Array(buffer)
  writeKeyTable(surface, address, bytes)
  return {
    surface,
    address,
    bytes,
    result: new Float64Array(buffer, address('RESULT'), 8),
    scanned: new Int32Array(buffer, address('SCANNED'), SCANNED_WORDS),
    times: new Float64Array(buffer, address('TIMES'), TIMES),
    bands: new BigInt64Array(buffer, address('MARK') + MARK_BANDS_AT, REPLAY_BANDS),
    copied: new Float64Array(buffer, address('COPIED'), 3),
    copiedFrom: new Int32Array(buffer, address('COPIED'), 10),
    text: Buffer.from(buffer),
    samples: address('SAMPLES'),
    slotBytes: address('SAMPLE_BYTES'),
    bodyAt: address('BODY'),
    bodyBytesMax: address('BODY_BYTES_MAX'),
    markAt: address('MARK'),
    preparedAt: address('PREPARED'),
    probeSketchAt: address('PROBE_SKETCH'),
    knownSketchesAt: address('KNOWN_SKETCHES'),
  }
}

/** Writes the domain's canonical key table into the scanner's memory. */
function writeKeyTable(surface: Surface, address: (name: string) => number, bytes: Uint8Array): void {
  for (const [keyCode, key] of KEYS_BY_KEY_CODE) bytes[address('KEYS_OF_KEY_CODES') + keyCode] = key
  for (const [code, key] of KEYS_BY_CODE) {
    const text = utf8Encoder.encode(code)
    bytes.set(text, address('BODY'))
    surface.nameKey(address('BODY'), text.length, key)
  }
}

/** Holds the current instance, and replaces it after a trap. */
export interface KernelHost {
  readonly current: () => KernelInstance
  /** Runs one call. After a trap it throws `KernelTrap`, and `current` is a fresh instance, because the old memory may be damaged. */
  readonly guarded: <T>(call: (surface: Surface) => T) => T
}

/** Throws if module and model do not fit each other. Copies `wasm`; keeps `model` for a fresh instance. */
export function hostKernel(wasm: Uint8Array, model: Uint8Array): KernelHost {
  const module = new Module(new Uint8Array(wasm))
  let current = instantiate(module, model)
  return {
    current: () => current,
    guarded(call) {
      try {
        return call(current.surface)
      } catch (error) {
        current = instantiate(module, model)
        throw error instanceof KernelTrap ? error : new KernelTrap(String(error))
      }
    },
  }
}

/** Copies a sample into a slot. Throws RangeError if this version does not read it. */
export function writeSample({ bytes, samples, slotBytes }: KernelInstance, slot: number, sample: Uint8Array): void {
  if (!readableSample(sample)) throw new RangeError('not a sample this version reads')
  bytes.set(sample, samples + slot * slotBytes)
}
