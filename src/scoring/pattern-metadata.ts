import { clipped } from '../base/text.js'
import type { Device } from '../domain/context/circumstances.js'
import type { PatternMetadata } from '../domain/typing-pattern.js'
import { deviceKind, readUserAgent } from './user-agent.js'

/** The stored description of the device and application in which a pattern was typed. */
export interface TypingMetadata {
  /** Null if the pattern does not describe the device. */
  readonly device: Device | null
  /** The application typed into: the tag `app`, else the agent's type. Our choice. */
  readonly application: string
  readonly tags: readonly { readonly k: string; readonly v: string }[]
}

/** Longer names of a GPU or language add no information. */
const TEXT_MAX = 80

/** Extracts the few short texts of a pattern's metadata that are stored: fonts as a digest, screens as `1920x1080@1`. */
export function patternMetadata({ agent, tags = [], d }: PatternMetadata): TypingMetadata {
  const app = tags.find(({ k }) => k === 'app')?.v
  return {
    device: d === undefined ? null : deviceOf(d),
    application: clipped(app || agent.type, TEXT_MAX),
    // Other fields of a tag are dropped.
    tags: tags.map(({ k, v }) => ({ k, v })),
  }
}

function deviceOf(d: NonNullable<PatternMetadata['d']>): Device {
  const { sW, sH, dpr = 1, fonts, cpuThreads, uaData } = d
  const userAgent = d.ua ?? ''
  const { browser, os } = readUserAgent(userAgent)
  return {
    browser,
    os: os ?? textOf(uaData?.platform),
    kind: deviceKind(userAgent, uaData?.mobile),
    screen: sW === undefined || sH === undefined ? null : `${sW}x${sH}@${dpr}`.slice(0, TEXT_MAX),
    time_zone: textOf(d.tz),
    language: textOf(d.navLanguage),
    gpu: textOf(d.gpu),
    fonts: fonts === undefined || fonts.length === 0 ? null : `${digest(fonts)} (${fonts.length})`,
    cpu_threads: cpuThreads === undefined ? null : String(cpuThreads),
  }
}

const textOf = (text: string | undefined): string | null => clipped(text ?? '', TEXT_MAX) || null

/** FNV-1a, 32 bit, of the list in order. It distinguishes lists without storing them. */
function digest(texts: readonly string[]): string {
  let hash = 0x811c9dc5
  for (const text of texts)
    for (let i = 0; i <= text.length; i++)
      hash = Math.imul(hash ^ (i < text.length ? text.charCodeAt(i) : 0), 0x01000193) >>> 0
  return hash.toString(16).padStart(8, '0')
}
