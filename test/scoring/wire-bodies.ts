import type { Random } from '../../src/calibration/random.js'

/** JSON before serialization. Members are a list, so that a key can occur twice. `raw` is written unchanged. */
export type Node =
  | { kind: 'object'; members: [string, Node][] }
  | { kind: 'array'; items: Node[] }
  | { kind: 'raw'; text: string }

export type Container = Exclude<Node, { kind: 'raw' }>

export const raw = (text: string): Node => ({ kind: 'raw', text })
export const json = (value: unknown): Node => {
  if (Array.isArray(value)) return { kind: 'array', items: value.map(json) }
  if (typeof value !== 'object' || value === null) return raw(JSON.stringify(value))
  return { kind: 'object', members: Object.entries(value).map(([key, item]) => [key, json(item)]) }
}

export const below = (random: Random, n: number): number => Math.floor(random() * n)
export const pick = <T>(random: Random, items: readonly T[]): T => {
  const item = items[below(random, items.length)]
  if (item === undefined) throw new Error('nothing to pick from')
  return item
}

export interface Style {
  /** Probabilities of white space before or after a token, and of an escape for a character. */
  readonly space: number
  readonly escape: number
}
export const COMPACT: Style = { space: 0, escape: 0 }

export function written(node: Node, random: Random, style: Style = COMPACT): string {
  const spaces = [' ', '\n', '\t', '\r', '  ', '\r\n    ', '                    ']
  const space = () => (style.space > 0 && random() < style.space ? pick(random, spaces) : '')
  const text = (token: string) => (style.escape > 0 && token.startsWith('"') ? escaped(token, random, style) : token)
  const of = (one: Node): string => {
    if (one.kind === 'raw') return space() + text(one.text) + space()
    let out = space() + (one.kind === 'array' ? '[' : '{') + space()
    if (one.kind === 'array') for (const [i, item] of one.items.entries()) out += (i > 0 ? ',' : '') + of(item)
    else {
      for (const [i, [key, item]] of one.members.entries()) {
        out += `${i > 0 ? ',' : ''}${space()}${text(JSON.stringify(key))}${space()}:${of(item)}`
      }
    }
    return out + (one.kind === 'array' ? ']' : '}') + space()
  }
  return of(node)
}

const hex = (unit: number) => unit.toString(16).padStart(4, '0')

function escaped(token: string, random: Random, style: Style): string {
  if (!/^"[^"\\]*"$/.test(token)) return token
  const inner = Array.from(token.slice(1, -1), (letter) => {
    if (random() >= style.escape) return letter
    if (letter === '/') return '\\/'
    return Array.from({ length: letter.length }, (_, i) => `\\u${hex(letter.charCodeAt(i))}`).join('')
  })
  return `"${inner.join('')}"`
}

/** Every object and array of a tree, parents before children. */
export function containers(node: Node, found: Container[] = []): Container[] {
  if (node.kind === 'raw') return found
  found.push(node)
  if (node.kind === 'array') for (const item of node.items) containers(item, found)
  else for (const [, item] of node.members) containers(item, found)
  return found
}

const LETTERS = ['KeyA', 'KeyB', 'KeyE', 'KeyT', 'Space', 'Digit1', 'Semicolon', 'NumpadMultiply']
const MODIFIERS = ['ShiftLeft', 'ShiftRight', 'ControlLeft', 'AltRight']
const STRANGE = ['', 'Unidentified', 'Fn', 'BrowserFavorites', 'LaunchMediaPlayer', 'Lang1', 'IntlYen', 'é']
const KEY_CODES = [65, 66, 69, 84, 32, 49, 186, 106, 16, 17, 229, 0, 13, 8, 255, 256, 1023, 59.0]

interface Typed {
  press: number
  release: number
  key: Record<string, unknown>
}

/** Key presses with rounded times or with all digits of a double; most are within the bounds. */
function typing(random: Random): Typed[] {
  const round = pick(random, [
    (ms: number) => Math.round(ms),
    (ms: number) => Math.round(ms * 10) / 10,
    (ms: number) => Math.round(ms * 200) / 200,
    (ms: number) => ms,
  ])
  const which = pick(random, ['c', 'kc', 'both', 'both', 'both', 'phone', 'strange'])
  const begin = pick(random, [0, 0, 1234.5, 1e6, -50, 0.30000000000000004])
  let press = begin
  return Array.from({ length: 15 + below(random, 4) }, () => {
    press += 70 + 150 * random()
    const code = random() < 0.1 ? pick(random, MODIFIERS) : pick(random, LETTERS)
    const key: Record<string, unknown> =
      random() < 0.5 ? { k: pick(random, ['a', ' ', '"', '\\', 'é', '😀', 'Shift']) } : {}
    if (which === 'phone') Object.assign(key, { c: '', kc: 229 })
    else if (which === 'strange') Object.assign(key, { c: pick(random, STRANGE), kc: pick(random, KEY_CODES) })
    else {
      if (which !== 'kc') key.c = code
      if (which !== 'c') key.kc = pick(random, KEY_CODES)
    }
    return { press: round(press), release: round(press + 30 + 120 * random()), key }
  })
}

function eventsOf(random: Random, typed: readonly Typed[]): Record<string, unknown>[] {
  const begun = pick(random, [1_790_000_000_000, 1_790_000_000_000.25, 0])
  const clock = pick(random, ['et', 'et', 'both', 'both', 'both', 't'])
  const [flags, repeats, sequence] = [random() < 0.3, pick(random, [0, 1, 2]), random() < 0.95]
  const events = typed
    .flatMap(({ press, release, key }) => [
      { type: 'keydown', at: press, key },
      { type: 'keyup', at: release, key },
    ])
    .sort((a, b) => a.at - b.at)
  if (random() < 0.2) events.splice(below(random, events.length), 1)
  if (random() < 0.2) {
    const again = pick(random, events)
    events.splice(events.indexOf(again), 0, { ...again, type: pick(random, ['keydown', 'keyup', 'beforeinput']) })
  }
  const all = events.map(({ type, at, key }, seqn) => ({
    type,
    ...(clock === 't' ? {} : { et: at }),
    ...(clock === 'et' ? {} : { t: begun + at }),
    ...key,
    ...(repeats === 0 ? {} : { r: repeats === 2 && random() < 0.1 }),
    ...(flags ? { eId: 'words', l: 0, ctrlKey: false, altKey: false, shiftKey: true, metaKey: false } : {}),
    ...(sequence ? { seqn } : {}),
  }))
  if (random() < 0.05) all.push(...all.splice(below(random, all.length), 1))
  return all
}

const recordsOf = (random: Random, typed: readonly Typed[]): Record<string, unknown>[] => {
  const seeks = random() < 0.5
  return typed.map(({ press, release, key }, i) => ({
    ...key,
    et: press,
    ...(seeks ? { s: press - (typed[i - 1]?.press ?? press) } : {}),
    h: release - press,
  }))
}

/** Events as the recorder writes them: every field, in its order; a modifier is held with probability 0.02. */
const recordedEvents = (random: Random, events: readonly Record<string, unknown>[]) => {
  const held = () => random() < 0.02
  return events.map((event, seqn) => ({
    t: event.t ?? 1_790_000_000_000 + Number(event.et),
    et: event.et ?? event.t,
    type: event.type,
    eId: pick(random, ['words', 'words', '', 'wörter']),
    k: event.k ?? 'a',
    c: event.c ?? 'KeyA',
    kc: event.kc ?? 65,
    r: event.r ?? false,
    l: 0,
    ctrlKey: held(),
    altKey: held(),
    shiftKey: held(),
    metaKey: held(),
    seqn: event.seqn ?? seqn,
  }))
}
const recordedRecords = (records: readonly Record<string, unknown>[]) =>
  records.map(({ k = 'a', c = 'KeyA', kc = 65, et, s, h }, i) => ({
    k,
    c,
    kc,
    et,
    s: s ?? Number(et) - Number(records[i - 1]?.et ?? et),
    h,
  }))

const ADDRESSES = ['203.0.113.7', '2001:db8::7', ' 198.51.100.4 ', '::ffff:192.0.2.1', '2001:DB8:0:0:0:0:0:1']

/** A random pattern that a client may send. Most are accepted; all have the types of the wire format. */
export function anyPattern(random: Random): Node {
  const typed = typing(random)
  const lists = pick(random, ['both', 'both', 'kevt', 'kevt', 'k', 'k'])
  const has = (chance: number) => random() < chance
  const [events, records] = [eventsOf(random, typed), recordsOf(random, typed)]
  const recorded = has(0.5)
  return json({
    agent: {
      type: 'browser',
      ...(has(0.5) ? { version: '1.0.0' } : {}),
      ...(has(0.7) ? { mode: pick(random, ['visible', 'sensitive']) } : {}),
    },
    version: has(0.05) ? pick(random, ['1.0.1-beta.1', '1.2.3+build']) : pick(random, ['1.0.0', '1.12.345']),
    ...(has(0.1) ? { sId: 'capture', tId: below(random, 9) } : {}),
    ...(has(0.6) ? { ip: has(0.05) ? pick(random, ['', 'not-an-ip', '1.2.3']) : pick(random, ADDRESSES) } : {}),
    ...(has(0.2) ? { member_ref: pick(random, ['anna', 'Jörg', 'a b', '😀"\\']) } : {}),
    ...(has(0.2) ? { tags: [{ k: 'app', v: 'test' }] } : {}),
    ...(lists === 'k' ? {} : { kevt: recorded ? recordedEvents(random, events) : events }),
    ...(lists === 'kevt' ? {} : { k: recorded ? recordedRecords(records) : records }),
    ...(has(0.2)
      ? {
          m: [
            { et: 3.5, type: 'move', mX: 10, mY: -2 },
            { et: 4, type: 'scroll', sX: 0, sY: 1e2 },
          ],
        }
      : {}),
    ...(has(0.2) ? { d: deviceOf(random) } : {}),
  })
}

const deviceOf = (random: Random): Record<string, unknown> => ({
  ua: 'Mozilla/5.0 (X11; Linux x86_64)',
  uaData: pick(random, [
    null,
    {},
    { mobile: null, platform: 'Linux' },
    { architecture: 'x86', platform: 'Linux', mobile: false, brands: [{ brand: 'x' }] },
  ]),
  sH: 1080,
  sW: 1920,
  iH: 900.5,
  iW: 1900,
  pxd: 24,
  dpr: 1.25,
  cpuThreads: 8,
  tz: 'Europe/Berlin',
  navCookiesEnabled: true,
  navLanguage: 'de',
  gpu: 'ANGLE',
  fonts: ['Arial', 'Noto Sans', 'Ünifont'],
})
