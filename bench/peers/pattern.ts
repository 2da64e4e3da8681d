import type { KeyPress } from '../../src/domain/key-press.js'
import { KEYS_BY_CODE } from '../../src/domain/key-table.js'
import type { TypingPattern } from '../../src/domain/typing-pattern.js'

interface KeyEvent {
  readonly type: string
  readonly et: number
  readonly c: string
  readonly r?: boolean
}

/** The fields of a typing pattern that the peers use. */
export interface PatternBody extends Pick<TypingPattern, 'agent' | 'ip' | 'member_ref' | 'tags' | 'd'> {
  readonly kevt: readonly KeyEvent[]
}

const text = { type: 'string', maxLength: 1024 }
const short = { type: 'string', maxLength: 64 }
const number = { type: 'number' }
const flag = { type: 'boolean' }

/** The typing pattern as a JSON schema, with the service's fields and bounds. */
export const PATTERN = {
  type: 'object',
  required: ['agent', 'version', 'kevt'],
  properties: {
    agent: {
      type: 'object',
      required: ['type', 'mode'],
      properties: { type: short, version: short, mode: { enum: ['visible', 'sensitive'] } },
    },
    version: { type: 'string', pattern: '^1\\.\\d{1,9}\\.\\d{1,9}$' },
    ip: short,
    tags: {
      type: 'array',
      maxItems: 32,
      items: { type: 'object', required: ['k', 'v'], properties: { k: short, v: { type: 'string', maxLength: 256 } } },
    },
    kevt: {
      type: 'array',
      maxItems: 1200,
      items: {
        type: 'object',
        required: ['type', 'et', 'c'],
        properties: {
          t: number,
          et: number,
          type: { type: 'string', maxLength: 32 },
          eId: text,
          k: short,
          c: short,
          kc: { type: 'integer' },
          r: flag,
          l: number,
          ctrlKey: flag,
          altKey: flag,
          shiftKey: flag,
          metaKey: flag,
          seqn: { type: 'integer' },
        },
      },
    },
    k: {
      type: 'array',
      maxItems: 600,
      items: {
        type: 'object',
        required: ['et', 'h'],
        properties: { k: short, c: short, kc: { type: 'integer' }, et: number, s: number, h: number },
      },
    },
    member_ref: { type: 'string', maxLength: 256 },
    d: {
      type: 'object',
      properties: {
        ua: text,
        uaData: {
          type: 'object',
          nullable: true,
          properties: { architecture: text, platform: text, mobile: flag },
        },
        sH: number,
        sW: number,
        iH: number,
        iW: number,
        pxd: number,
        dpr: number,
        cpuThreads: number,
        tz: text,
        navCookiesEnabled: flag,
        navLanguage: text,
        gpu: text,
        fonts: { type: 'array', maxItems: 512, items: { type: 'string', maxLength: 256 } },
      },
    },
  },
} as const

const PRESSES_MIN = 15
const PRESSES_MAX = 500

/** Key presses from the events, the first at 0 ms; null if there are too few or too many, or times decrease. */
export function pressesOf({ kevt, agent }: PatternBody): KeyPress[] | null {
  const presses: { key: number; pressMs: number; releaseMs: number }[] = []
  const open = new Map<string, number>()
  const origin = kevt[0]?.et ?? 0
  let last = origin
  for (const { type, et, c, r } of kevt) {
    if (et < last) return null
    last = et
    if (type === 'keydown') {
      if (r === true) continue
      open.set(c, presses.length)
      const key = agent.mode === 'sensitive' ? 0 : (KEYS_BY_CODE.get(c) ?? 0)
      presses.push({ key, pressMs: et - origin, releaseMs: -1 })
    } else if (type === 'keyup') {
      const press = presses[open.get(c) ?? -1]
      open.delete(c)
      if (press !== undefined) press.releaseMs = et - origin
    }
  }
  const whole = presses.filter(({ releaseMs }) => releaseMs >= 0)
  return whole.length < PRESSES_MIN || whole.length > PRESSES_MAX ? null : whole
}
