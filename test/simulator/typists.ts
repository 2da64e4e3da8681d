import { keyName, keyOfName } from '../../src/domain/key-table.js'
import type { ReplayMark } from '../../src/domain/replay.js'
import { FIT_BYTES, fittedTemplate, samplesIn } from '../../src/scoring/profile-template.js'
import { decodeSample, encodeSample, sampleBytes } from '../../src/scoring/sample.js'
import type { PatternReading, ProfileTemplate, Scoring } from '../../src/scoring/scoring.js'
import type { CodeHash } from '../../src/storage/code-hash.js'
import type { Binding, Vault } from '../../src/storage/vault.js'

/**
 * Quality of a typed pattern: clearly the person, good enough, in the weak band, a machine, or not a pattern at all.
 */
export type Quality = 'clean' | 'plain' | 'weak' | 'bot' | 'unreadable'

export interface Typing {
  /** Number of the person who typed. */
  readonly person: number
  readonly nth: number
  readonly mode: 'visible' | 'sensitive'
  readonly quality: Quality
  /** `member_ref` of the body. */
  readonly memberRef: string | null
  readonly mark: ReplayMark
  /** The words that are typed; null if the body types none. */
  words: readonly string[] | null
}

/** The typing of each body. Flows do not read bodies; they pass on the same object. */
const typings = new WeakMap<Uint8Array, Typing>()

/** A new body, or a jittered copy, which shares the bands of the mark of `copyOf`. Two bands find a removed pattern; the real eight would only cost time. */
export function typed(typing: Omit<Typing, 'mark' | 'words'>, copyOf: Typing | null = null): Uint8Array {
  const exact = new Uint8Array(16)
  new DataView(exact.buffer).setFloat64(0, typing.nth)
  const bands = copyOf?.mark.bands ?? [BigInt(2 * typing.nth), BigInt(2 * typing.nth + 1)]
  const body = new Uint8Array(0)
  typings.set(body, { ...typing, mark: { exact, bands }, words: null })
  return body
}

export function typingOf(body: Uint8Array): Typing {
  const typing = typings.get(body)
  if (typing === undefined) throw new Error('an unknown body: no typist made it')
  return typing
}

/** Makes a new body type these words, and returns it. */
export function typing(body: Uint8Array, words: readonly string[] | undefined): Uint8Array {
  const typing = typingOf(body)
  typing.words ??= words ?? null
  return body
}

/** The key of person 0, above all keys with a letter. */
const PERSON_KEY = 128

/** A sample in the stored format: one press that encodes the person and the number of the pattern, then the words. */
const sampleOf = ({ person, nth, mode, words }: Typing): Uint8Array =>
  encodeSample(
    [
      { key: PERSON_KEY + person, pressMs: 0, releaseMs: nth },
      ...Array.from((words ?? []).join(''), (letter) => ({ key: keyOfName(letter), pressMs: 0, releaseMs: 0 })),
    ],
    mode,
  )

/** The text of a sample. */
export const textOf = (sample: Uint8Array): string =>
  (decodeSample(sample)?.presses ?? [])
    .slice(1)
    .map(({ key }) => keyName(key))
    .join('')

function ownersOf(samples: Uint8Array): { person: number; nth: number }[] {
  const owners: { person: number; nth: number }[] = []
  for (let at = 0, end = 0; at < samples.length; at = end) {
    end = at + sampleBytes((samples[at + 2] ?? 0) + 256 * (samples[at + 3] ?? 0))
    const [press] = decodeSample(samples.slice(at, end))?.presses ?? []
    if (press === undefined) throw new Error('a reference without a press')
    owners.push({ person: press.key - PERSON_KEY, nth: press.releaseMs })
  }
  return owners
}

const NO_FIT = new Uint8Array(FIT_BYTES)
const CONFIDENCE: Record<Quality, number> = { clean: 0.99, plain: 0.7, weak: 0.42, bot: 0.42, unreadable: 0 }

/** A stand-in for the scoring core: confident if more than half of the references are by the same person. */
export const standInScoring: Scoring = {
  id: new Uint8Array(8).fill(1),
  async score({ body, references, adaptive = [], template, returnTemplate }) {
    const typing = typingOf(body)
    if (typing.quality === 'unreadable') return { ok: false, message: 'kevt: too short' }
    const samples = Buffer.concat(template === undefined ? references : samplesIn(template))
    const owners = ownersOf(samples)
    const own = owners.filter(({ person }) => person === typing.person).length
    const confidence = own * 2 > owners.length ? CONFIDENCE[typing.quality] : 0.05
    const newTemplate: ProfileTemplate | null =
      returnTemplate && owners.length > 0
        ? fittedTemplate(NO_FIT, template === undefined ? references : samplesIn(template))
        : null
    const reading: PatternReading = {
      ...{ sample: sampleOf(typing), nKeydowns: 50, mode: typing.mode, ip: null, memberRef: typing.memberRef },
      metadata: { device: null, application: 'web', tags: [] },
      replayMark: typing.mark,
      botLikelihood: typing.quality === 'bot' ? 1 : 0,
      bot: typing.quality === 'bot',
      replayOfReference: owners.some(({ person, nth }) => person === typing.person && nth === typing.nth),
      ...{ copy: null, sketch: new Uint8Array(1), replayDistanceMs: Number.POSITIVE_INFINITY },
      confidence: owners.length === 0 ? null : confidence,
      confidenceAdapted: adaptive.length === 0 ? null : Math.max(confidence, confidence > 0.05 ? 0.6 : 0),
      ...{ nReferencesUsed: owners.length + adaptive.length, newTemplate, warnings: null },
    }
    return { ok: true, reading }
  },
  memoryBytes: () => 0,
  close: async () => {},
}

export interface Sealed extends Binding {
  readonly organizationId: string
}

/**
 * A vault that remembers the binding of the sealed bytes. Opening them with another binding fails, as in the real
 * vault.
 */
export function rememberingVault() {
  const bound = new WeakMap<Uint8Array, Sealed>()
  const unused = async (): Promise<never> => {
    throw new Error('not part of the simulation')
  }
  const key = new Uint8Array(32)
  const vault: Vault = {
    async seal(organizationId, binding, plain) {
      const sealed = Uint8Array.from(plain)
      bound.set(sealed, { organizationId, ...binding })
      return sealed
    },
    async open(organizationId, { accountId, memberId, patternId, generation }, sealed) {
      const of = bound.get(sealed)
      const same =
        of?.organizationId === organizationId &&
        of.accountId === accountId &&
        of.memberId === memberId &&
        of.patternId === patternId &&
        of.generation === generation
      if (!same) throw new Error('sealed bytes were altered or moved')
      return sealed
    },
    async sealFor(organizationId, purpose, plain) {
      return Buffer.from(JSON.stringify({ organizationId, purpose, plain: Buffer.from(plain).toString('base64') }))
    },
    async openFor(organizationId, purpose, sealed) {
      const of = JSON.parse(Buffer.from(sealed).toString())
      if (JSON.stringify([of.organizationId, of.purpose]) !== JSON.stringify([organizationId, purpose]))
        throw new Error('sealed bytes were altered or moved')
      return Buffer.from(of.plain, 'base64')
    },
    sealPiece: unused,
    openPiece: unused,
    sealSecret: unused,
    openSecret: unused,
    replayKey: async () => key,
    codePepper: async () => key,
  }
  return { vault, boundTo: (sealed: Uint8Array) => bound.get(sealed) ?? null }
}

/** Hashes that reveal nothing: only this object knows their codes, as only the pepper reveals them in the real one. */
export function rememberingCodeHash() {
  const codes = new Map<string, { readonly owner: string; readonly code: string }>()
  const ownerOf = ({ organizationId, memberId }: { organizationId: string; memberId: string }) =>
    `${organizationId} ${memberId}`
  const codeHash: CodeHash = {
    async hash(owner, code) {
      const kept = `hash-${codes.size}`
      codes.set(kept, { owner: ownerOf(owner), code })
      return kept
    },
    async matches(owner, code, kept) {
      const of = kept === null ? undefined : codes.get(kept)
      return of?.owner === ownerOf(owner) && of.code === code
    },
  }
  return { codeHash, codeOf: (kept: string | null) => (kept === null ? null : (codes.get(kept)?.code ?? null)) }
}
