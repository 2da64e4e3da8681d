import { canonicalAddress } from '../domain/context/address.js'
import { KEYS_BY_CODE, KEYS_BY_KEY_CODE } from '../domain/key-table.js'
import { REPLAY_BANDS, type ReplayMark } from '../domain/replay.js'
import { type PatternMetadata, TypingPattern } from '../domain/typing-pattern.js'
import { misspelt, prepareFields } from '../domain/validation/known-fields.js'
import { patternMetadata } from './pattern-metadata.js'
import type { PatternRead } from './read-pattern.js'
import { readableSample, sampleBytes } from './sample.js'

/** The part of the WebAssembly interface used here: the compiler's library has it only with the browser's. */
interface WasmInstance {
  readonly exports: Readonly<Record<string, unknown>>
}
interface WasmInterface {
  readonly Module: new (bytes: Uint8Array) => object
  readonly Instance: new (module: object, imports: object) => WasmInstance
}
// Node provides WebAssembly with the constructors of its standard (JavaScript interface, W3C 2019).
const { Module, Instance } = (globalThis as unknown as { readonly WebAssembly: WasmInterface }).WebAssembly

/** What the module exports; addresses are exported as globals and read once. */
interface Surface {
  readonly memory: { readonly buffer: ArrayBuffer }
  readonly loadModel: (bytes: number) => number
  readonly readOne: (slot: number) => number
  readonly score: (references: number) => void
  readonly scoreRead: (references: number) => void
  readonly scoreKept: (references: number) => void
  readonly keepTemplate: (references: number) => number
  readonly enroll: (references: number) => void
  readonly compare: (references: number) => number
  readonly examineProbe: (references: number) => number
  readonly nearestReplay: (references: number) => number
  readonly explain: () => number
  readonly nameKey: (text: number, bytes: number, key: number) => void
  readonly scan: (bytes: number) => number
  readonly mark: (presses: number) => void
}

/** u32 references, u32 bytes of the kernel's part; that part and the samples follow. */
const TEMPLATE_HEADER = 8
const LAYOUT_VERSION = 6
/** `assembly/scan.ts` has their table. */
const SCANNED_WORDS = 62
/** Where unknown keys were found, by the numbers of `assembly/unknown-keys.ts`. */
const PLACES: readonly (readonly PropertyKey[])[] = [
  [],
  ['agent'],
  ['tags', 0],
  ['kevt', 0],
  ['k', 0],
  ['m', 0],
  ['d'],
  ['d', 'uaData'],
]
const MARK_KEY_BYTES = 32
const MARK_EXACT_BYTES = 16
const utf8Encoder = new TextEncoder()
const MODEL_PROBLEMS: Readonly<Record<number, string>> = {
  1: 'not a Keystride model',
  2: 'a model of another version or shape',
  3: 'a damaged model: its length is not what its header says',
}

/** What the kernel found of one probe. */
export interface KernelScore {
  /** Calibrated probability, 0 to 1; null without references. */
  readonly confidence: number | null
  /** 0 to 1; above 0.5 it is called a bot. */
  readonly botLikelihood: number
  /** Mean absolute timing difference to the nearest reference, ms; Infinity where none can be laid over it. */
  readonly replayDistanceMs: number
  /** Fusion and liveness before calibration, for fitting the calibration. */
  readonly fused: number
  readonly liveness: number
}

export interface Kernel {
  readonly referencesMax: number
  /** What the instance in use occupies: fixed when it was compiled. */
  memoryBytes(): number
  /**
   * Reads a request body as `readByContract` does; null where it declines, which the contract may still accept. Copies what
   * it is given; `times` is a view that the next scan overwrites.
   */
  scan(body: Uint8Array): PatternRead | null
  /**
   * The replay mark of a pattern of 1 to 500 presses, from the press and release of each in turn, ms on any clock. Who does
   * not hold `replayKey` (32 bytes) can neither make one nor aim a jitter at where its cells end.
   */
  mark(times: Float64Array, replayKey: Uint8Array): ReplayMark
  /** Scores a sample against samples of the references (the first `referencesMax` of them). Copies what it is given. */
  score(probe: Uint8Array, references: readonly Uint8Array[]): KernelScore
  /** Writes a sample into a slot and reads it: the step to repeat where many probes meet the same references. */
  read(slot: number, sample: Uint8Array): void
  /** The same score, for slots read before: slot 0 the probe, 1 to `references` the references. */
  scoreRead(references: number): KernelScore
  /**
   * The template of the last score's references, slots 1 to `references`: their samples and what a score computes of them
   * alone. Good for this module and model only; under 8 KiB for five references of 50 keys. The caller's.
   */
  keep(references: number): Uint8Array
  /** The same score, bit for bit, against what `keep` gave: half the time. */
  scoreKept(probe: Uint8Array, template: Uint8Array): KernelScore
  /** Builds the template from slots 1 to `references`. */
  enroll(references: number): void
  /** Comparison features of slot 0 and the template: a view that the next call overwrites. */
  compare(references: number): Float32Array
  /** Bot signs of slot 0, and of forgery from slots 1 to `references`: a view that the next call overwrites. */
  examine(references: number): Float32Array
  /**
   * What each press of slot 0 says against the template of the last score: 16 numbers a press (`assembly/explain.ts` has
   * their table), a view that the next call overwrites.
   */
  explain(): Float32Array
  /** A slot's region by name, views that the next call overwrites. */
  vector(slot: number): Float32Array
  summary(slot: number): Float32Array
  /** Row of log times (`raw`) or normalised times (`z`): kind 0 hold, 1 press-press, 2 release-press, 3 release-release. */
  row(which: 'raw' | 'z', slot: number, kind: number): Float32Array
}

/** A failed assertion or a trap inside the kernel: a bug or a damaged sample, never a verdict. */
export class KernelTrap extends Error {
  override readonly name = 'KernelTrap'
}

/** One instance of the module over one model. */
function instantiate(module: object, model: Uint8Array) {
  const instance = new Instance(module, {
    env: {
      abort(_message: number, _file: number, line: number, column: number) {
        throw new KernelTrap(`the scoring kernel's assertion at line ${line}, column ${column} failed`)
      },
    },
  })
  // The module is ours, built from assembly/: LAYOUT_VERSION, checked below, stands for the shape of its exports.
  const surface = instance.exports as unknown as Surface
  const address = (name: string): number => {
    const exported = instance.exports[name] as { readonly value: number } | undefined
    if (exported === undefined) throw new Error(`scoring.wasm exports no ${name}`)
    return exported.value
  }
  if (address('LAYOUT_VERSION') !== LAYOUT_VERSION) throw new Error('scoring.wasm has another memory layout')
  if (model.length > address('MODEL_BYTES_MAX')) throw new Error('the model is larger than 2 MiB')
  new Uint8Array(surface.memory.buffer).set(model, address('MODEL'))
  const problem = surface.loadModel(model.length)
  if (problem !== 0) throw new Error(MODEL_PROBLEMS[problem] ?? 'the model was refused')
  const bytes = new Uint8Array(surface.memory.buffer)
  teachKeys(surface, address, bytes)
  return { surface, address, bytes }
}

/** RESULT, SCANNED, and all of the memory as what text is read from. The memory never grows. */
function viewsOf(surface: Surface, address: (name: string) => number): [Float64Array, Int32Array, Buffer] {
  const { buffer } = surface.memory
  const result = new Float64Array(buffer, address('RESULT'), 8)
  return [result, new Int32Array(buffer, address('SCANNED'), SCANNED_WORDS), Buffer.from(buffer)]
}

/** The canonical key table stands once, in the domain: the scanner is told it. */
function teachKeys(surface: Surface, address: (name: string) => number, bytes: Uint8Array): void {
  for (const [keyCode, key] of KEYS_BY_KEY_CODE) bytes[address('KEYS_OF_KEY_CODES') + keyCode] = key
  for (const [code, key] of KEYS_BY_CODE) {
    const text = utf8Encoder.encode(code)
    bytes.set(text, address('BODY'))
    surface.nameKey(address('BODY'), text.length, key)
  }
}

/**
 * The host of the scoring kernel: one WASM instance with static memory, rebuilt after a trap, nothing allocated a call
 * but the result. `wasm` is build/scoring.wasm, `model` a model file; both stay the caller's. Throws where they do not
 * fit each other. A call throws `KernelTrap` where the kernel trapped; the next call finds a fresh instance.
 */
export function createKernel(wasm: Uint8Array, model: Uint8Array): Kernel {
  const module = new Module(new Uint8Array(wasm))
  let { surface, address, bytes } = instantiate(module, model)
  const samples = address('SAMPLES')
  const slotBytes = address('SAMPLE_BYTES')
  const referencesMax = address('REFERENCES_MAX')
  const compared = address('COMPARED_MAX')
  const preparedAt = address('PREPARED')
  const [bodyAt, bodyBytesMax] = [address('BODY'), address('BODY_BYTES_MAX')]
  let [result, scanned, text] = viewsOf(surface, address)

  /** Runs one call; on a trap the instance's memory is not trusted again. */
  function guarded<T>(call: () => T): T {
    try {
      return call()
    } catch (error) {
      ;({ surface, address, bytes } = instantiate(module, model))
      ;[result, scanned, text] = viewsOf(surface, address)
      throw error instanceof KernelTrap ? error : new KernelTrap(String(error))
    }
  }
  function write(slot: number, sample: Uint8Array): void {
    if (!readableSample(sample)) throw new RangeError('not a sample this version reads')
    bytes.set(sample, samples + slot * slotBytes)
  }
  const sampleBytesAt = (slot: number): number =>
    sampleBytes(new DataView(bytes.buffer).getUint16(samples + slot * slotBytes + 2, true))
  function found(references: number): KernelScore {
    return {
      confidence: references === 0 ? null : (result[0] ?? 0),
      botLikelihood: result[1] ?? 0,
      replayDistanceMs: result[2] ?? Number.POSITIVE_INFINITY,
      fused: result[3] ?? 0,
      liveness: result[4] ?? 0,
    }
  }
  /** A value of the body by its place and bytes: the scanner read JSON in valid UTF-8 there. Null of no bytes. */
  function value(at: number, length: number): unknown {
    return length === 0 ? null : JSON.parse(text.toString('utf8', bodyAt + at, bodyAt + at + length))
  }
  /** Of the unknown keys that the last scan noted. */
  function warningsOf(unknown: number): readonly string[] | null {
    const warnings = new Set<string>()
    for (let i = 0; i < unknown; i++) {
      const [place = 0, at = 0, length = 0] = scanned.subarray(14 + 3 * i, 17 + 3 * i)
      const path = PLACES[place]
      const name = text.toString('utf8', bodyAt + at, bodyAt + at + length)
      const warning = path === undefined ? null : misspelt(TypingPattern, path, name)
      if (warning !== null) warnings.add(warning)
    }
    return warnings.size === 0 ? null : [...warnings]
  }
  const view = (at: number, length: number) => new Float32Array(surface.memory.buffer, at, length)

  return {
    referencesMax,
    memoryBytes: () => surface.memory.buffer.byteLength,
    scan(body) {
      if (body.length > bodyBytesMax) return null
      bytes.set(body, bodyAt)
      const n = guarded(() => surface.scan(body.length))
      if (n === 0) return null
      const said = (place: number) => value(scanned[place] ?? 0, scanned[place + 1] ?? 0)
      // Sound: the scanner held it to be a string.
      const given = said(2) as string | null
      const ip = given === null ? null : canonicalAddress(given.trim())
      if (given !== null && ip === null) return null
      const d = said(10) ?? undefined
      if (scanned[13] === 1) prepareFields(TypingPattern, { d })
      return {
        ok: true,
        sample: bytes.slice(samples, samples + sampleBytes(n)),
        nKeydowns: n,
        mode: scanned[1] === 1 ? 'sensitive' : 'visible',
        ip,
        // Sound: the scanner held it to be a string.
        memberRef: said(4) as string | null,
        // Sound: it has held all three to their schemas.
        metadata: patternMetadata({
          agent: said(6),
          tags: said(8) ?? undefined,
          d,
        } as PatternMetadata),
        times: new Float64Array(surface.memory.buffer, address('TIMES'), 2 * n),
        warnings: scanned[12] === 0 ? null : warningsOf(scanned[12] ?? 0),
      }
    },
    mark(times, replayKey) {
      const at = address('MARK')
      new Float64Array(surface.memory.buffer, address('TIMES'), times.length).set(times)
      bytes.set(replayKey.subarray(0, MARK_KEY_BYTES), at)
      guarded(() => surface.mark(times.length / 2))
      const bandsAt = at + MARK_KEY_BYTES + MARK_EXACT_BYTES
      return {
        exact: bytes.slice(at + MARK_KEY_BYTES, bandsAt),
        bands: Array.from(new BigInt64Array(surface.memory.buffer, bandsAt, REPLAY_BANDS)),
      }
    },
    score(probe, references) {
      const used = Math.min(references.length, referencesMax)
      write(0, probe)
      for (let i = 0; i < used; i++) write(i + 1, references[i] ?? probe)
      guarded(() => surface.score(used))
      return found(used)
    },
    read(slot, sample) {
      write(slot, sample)
      guarded(() => surface.readOne(slot))
    },
    scoreRead(references) {
      guarded(() => surface.scoreRead(references))
      return found(references)
    },
    keep(references) {
      const prepared = guarded(() => surface.keepTemplate(references))
      const sizes = Array.from({ length: references }, (_, i) => sampleBytesAt(i + 1))
      const template = new Uint8Array(TEMPLATE_HEADER + prepared + sizes.reduce((sum, size) => sum + size, 0))
      new DataView(template.buffer).setUint32(0, references, true)
      new DataView(template.buffer).setUint32(4, prepared, true)
      template.set(bytes.subarray(preparedAt, preparedAt + prepared), TEMPLATE_HEADER)
      let to = TEMPLATE_HEADER + prepared
      for (const [i, size] of sizes.entries()) {
        const from = samples + (i + 1) * slotBytes
        template.set(bytes.subarray(from, from + size), to)
        to += size
      }
      return template
    },
    scoreKept(probe, template) {
      const header = new DataView(template.buffer, template.byteOffset, TEMPLATE_HEADER)
      const references = header.getUint32(0, true)
      let from = TEMPLATE_HEADER + header.getUint32(4, true)
      write(0, probe)
      bytes.set(template.subarray(TEMPLATE_HEADER, from), preparedAt)
      for (let slot = 1; slot <= references; slot++) {
        bytes.set(template.subarray(from, from + 4), samples + slot * slotBytes)
        const to = from + sampleBytesAt(slot)
        write(slot, template.subarray(from, to))
        from = to
      }
      guarded(() => surface.scoreKept(references))
      return found(references)
    },
    enroll: (references) => guarded(() => surface.enroll(references)),
    compare: (references) =>
      view(
        address('FEATURES'),
        guarded(() => surface.compare(references)),
      ),
    examine: (references) =>
      view(
        address('LIVENESS'),
        guarded(() => surface.examineProbe(references)),
      ),
    explain: () => view(address('EXPLAINED'), 16 * guarded(() => surface.explain())),
    vector: (slot) => view(address('VECTOR') + slot * address('VECTOR_STRIDE') * 4, address('VECTOR_SIZE')),
    summary: (slot) => view(address('SUMMARY') + slot * address('SUMMARY_STRIDE') * 4, address('SUMMARY_SIZE')),
    row: (which, slot, kind) =>
      view(address(which === 'raw' ? 'RAW' : 'Z') + (slot * 4 + kind) * compared * 4, compared),
  }
}
