import { type Random, shuffled } from '../../src/calibration/random.js'
import {
  anyPattern,
  below,
  COMPACT,
  type Container,
  containers,
  json,
  type Node,
  pick,
  raw,
  type Style,
  written,
} from './wire-bodies.js'

const utf8 = new TextEncoder()
const bytes = (random: Random, node: Node, style: Style = COMPACT): Uint8Array =>
  utf8.encode(written(node, random, style))
type Members = [string, Node][]

/** Replaces the value of the first member with the name, or appends a member. */
function set(members: Members, name: string, value: string): void {
  const at = members.findIndex(([other]) => other === name)
  members.splice(at < 0 ? members.length : at, at < 0 ? 0 : 1, [name, raw(value)])
}
/** A random object or array of the tree. */
const somewhere = (random: Random, node: Node): Container => pick(random, containers(node))
function anObject(random: Random, node: Node): Members {
  const objects = containers(node).flatMap((one) => (one.kind === 'object' ? [one.members] : []))
  return pick(random, objects)
}

// biome-ignore format: many short cases, some to a line
const ODD_NUMBERS = [
  '1e400', '-1e400', '1e-400', '-0', '0', '-0.0', '0e999', '1E5', '1e+5', '1.0E-2', '150.000', '9007199254740993', '9007199254740992',
  '9007199254740991', '-9007199254740991', '18446744073709551615', '18446744073709551616', '123456789012345678901234567890',
  '0.1000000000000000055511151231257827', '0.30000000000000004', '4.9e-324', '1.7976931348623157e308', '1e22', '1e23', '1e21',
  '179769313486231580793728971405301', '00', '01', '-', '+1', '.5', '5.', '1e', '1e+', '0x10', 'NaN', 'Infinity', '-Infinity', '1_0',
  '1.5', '-1', '229', '229.0', '65.00', '6.5e1', '0.65e2', '650e-1', '1023', '1024', '5000.0000000001', '2e3', '1'.repeat(299), '1'.repeat(400),
]
// biome-ignore format: many short cases, some to a line
const ODD_VALUES = [
  'null', 'true', 'false', '"1"', '""', '"x"', '{}', '[]', '[1]', '{"a":1}', 'nul', 'tru', 'falsey', 'True', "'a'", '"', '"\u0001"', '"\\x"',
  '"\\u12"', '"\\ud800"', '"\\ude00\\ud83d"', '"\\ud83d\\ude00"', '"keydown"', '"keyup"', '"key\\u0064own"', '"KeyA"', '"\\/"', '', ',', ':', '\u00a0',
  '"visible"', '"sensitive"', '"loud"', '"1.0.0"', '"1.0.0-x"', '"1.01.0"', '"1.0"', '"1.999999999.0"', '"1.1999999999.0"', '"2.0.0"',
]
const LENGTHS = [0, 1, 32, 33, 63, 64, 65, 128, 129, 256, 257, 1024, 1025]
// biome-ignore format: many short cases, some to a line
const NAMES = [
  'et', 't', 'type', 'k', 'c', 'kc', 'r', 'l', 'h', 's', 'seqn', 'eId', 'ctrlKey', 'shiftKey', 'mode', 'version', 'agent', 'ip', 'member_ref',
  'tags', 'kevt', 'm', 'd', 'fonts', 'uaData', 'navCookiesEnabled', 'navCookiesEnablex', 'toString', 'ety', 'shiftKeys', 'member_reg', '', 'é',
]
// biome-ignore format: four short cases
const SHORTCUT_KEYS: readonly (readonly [string, string])[] = [['kc', '86'], ['kc', '45'], ['c', '"KeyV"'], ['c', '"Insert"']]
const POISON = ['__proto__', 'constructor', 'prototype', '__proto___', 'constructo', 'prototypes', 'hasOwnProperty']

// biome-ignore format: many short cases, some to a line
const HOSTILE = [
  '\\u0000', '\\u0001', '\\ud800', '\\uDBFF', '\\udc00', '\\uDFFF', '\\ud83d\\ude00', '\\uD83D\\uDE00', '\\ude00\\ud83d', '\\ud83d\\ud83d\\ude00', '\\ud83d\\u0041',
  '\\ud83d\\n', '\\ud83dx', '\\ud83d\\u', '\\ud83d\\ude0', '\\ud83d\\udfff', '\\udbff\\udc00', '\\ud7ff', '\\ue000', '\\uffff', '\\u00e9', '\\\\u0000', '\\\\ud800', '\u0000', '😀',
]
/** Members of a pattern whose values are strings: the name of the enclosing object (null for the top), and the member's name. */
// biome-ignore format: many short cases, some to a line
const TEXTS: readonly (readonly [string | null, string])[] = [
  [null, 'sId'], [null, 'ip'], [null, 'member_ref'], [null, 'unknown'], ['agent', 'type'], ['agent', 'version'], ['agent', 'unknown'], ['d', 'ua'], ['d', 'tz'],
  ['d', 'gpu'], ['d', 'navLanguage'], ['d', 'unknown'],
]

const string = (random: Random): string =>
  JSON.stringify(pick(random, ['a', 'é', '😀', '\\', '\u0000', '中']).repeat(pick(random, LENGTHS)))
const oddValue = (random: Random): Node =>
  raw(random() < 0.4 ? pick(random, ODD_NUMBERS) : random() < 0.7 ? pick(random, ODD_VALUES) : string(random))

function replaceOne(
  random: Random,
  node: Node,
  value: (before: Node) => Node,
  wanted = (_: Node): boolean => true,
): void {
  // Draws a place instead of listing all places: many values of a pattern are numbers, so few draws are needed.
  for (let draws = 0; draws < 100; draws++) {
    const one = somewhere(random, node)
    const items = one.kind === 'array' ? one.items : one.members.map(([, item]) => item)
    const at = below(random, items.length)
    const before = items[at]
    if (before === undefined || !wanted(before)) continue
    const to = value(before)
    if (one.kind === 'array') one.items[at] = to
    else one.members[at] = [one.members[at]?.[0] ?? '', to]
    return
  }
}

/** The same number in another notation, or a number with random last digits. */
function renumbered(random: Random, { text }: Node & { kind: 'raw' }): string {
  const value = Number(text)
  const digits = (n: number) => Array.from({ length: n }, () => below(random, 10)).join('')
  const whole = String(Math.trunc(Math.abs(value)))
  const sign = value < 0 ? '-' : ''
  return pick(random, [
    () => value.toExponential(),
    () => value.toExponential(15).replace('e', 'E'),
    () => value.toFixed(below(random, 20)),
    () => `${sign}${whole}.${digits(1 + below(random, 22))}`,
    () => `${sign}${whole}${digits(3)}.${digits(2)}e-3`,
    () => `${sign}${whole}.${digits(12)}e0`,
    () => `${sign}0.00000${whole}e${5 + whole.length}`,
    () => `${sign}${whole}${'0'.repeat(below(random, 25))}`,
    () => `${sign}0.${'0'.repeat(below(random, 12))}${digits(1 + below(random, 17))}`,
  ])()
}

/** The name in another spelling, or with a character that JSON escapes. */
const misspelt = (random: Random, name: string): string =>
  pick(random, [
    name.toUpperCase(),
    name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    name.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase()),
    `-${name}`,
    `"${name}`,
    `${name}\\`,
    `${name}s`,
  ])

const isNumber = (node: Node): boolean => node.kind === 'raw' && /^-?\d/.test(node.text)

function mutated(random: Random, body: Uint8Array, changes: number): Uint8Array {
  const out = Array.from(body)
  for (let i = 0; i < changes; i++) {
    const at = below(random, out.length)
    const byte =
      random() < 0.5 ? below(random, 256) : pick(random, Array.from(utf8.encode('{}[]",:\\0123456789.eE+- \ntu\u00e9')))
    pick(random, [
      () => out.splice(at, 1, byte),
      () => out.splice(at, 1, (out[at] ?? 0) ^ (1 << below(random, 8))),
      () => out.splice(at, 0, byte),
      () => out.splice(at, 1),
      () => out.splice(at, below(random, 30)),
      () => out.splice(at, 0, ...out.slice(at, at + below(random, 40))),
    ])()
  }
  return Uint8Array.from(out)
}

const nested = (random: Random, levels: number): Node => {
  let node: Node = json(1)
  for (let i = 0; i < levels; i++) {
    node = random() < 0.5 ? { kind: 'array', items: [node] } : { kind: 'object', members: [['x', node]] }
  }
  return node
}

const spliced = (body: Uint8Array, at: number, inserted: readonly number[]): Uint8Array =>
  new Uint8Array(Buffer.concat([body.subarray(0, at), Uint8Array.from(inserted), body.subarray(at)]))

// biome-ignore format: many short cases, some to a line
const BAD_UTF8 = [
  [0xff], [0x80], [0xc0, 0xaf], [0xc1, 0x81], [0xe0, 0x80, 0x80], [0xed, 0xa0, 0x80], [0xed, 0xbf, 0xbf], [0xf0, 0x80, 0x80, 0x80], [0xf4, 0x90, 0x80, 0x80],
  [0xf5, 0x80, 0x80, 0x80], [0xe2, 0x82], [0xf0, 0x9f, 0x98], [0xc3], [0xc3, 0xa9], [0xed, 0x9f, 0xbf], [0xee, 0x80, 0x80], [0xef, 0xbb, 0xbf],
  [0xf4, 0x8f, 0xbf, 0xbf], [0xf0, 0x9f, 0x98, 0x80], [0xe0, 0xa0, 0x80], [0xc2, 0x80], [0xdf, 0xbf], [0xef, 0xbf, 0xbf],
]

/**
 * Records with random digits, within the bounds, so that every number is compared. A tenth of the patterns can have more
 * digits than the scanner accepts.
 */
function numberRecords(random: Random): Node {
  const digits = (n: number) => Array.from({ length: n }, () => below(random, 10)).join('')
  const longest = random() < 0.1 ? 18 : 14
  let whole = 0
  const items = Array.from({ length: 15 + below(random, 3) }, (_, i) => {
    whole += 80 + below(random, 300)
    const fraction = digits(1 + below(random, longest))
    const zeros = below(random, 20 - longest)
    const et = pick(random, [
      `${whole}.${fraction}`,
      `${whole}${fraction}${'0'.repeat(zeros)}e-${fraction.length + zeros}`,
    ])
    const h = pick(random, [
      `${60 + below(random, 99)}.${digits(1 + below(random, longest))}`,
      `0.0${'0'.repeat(below(random, 3))}1${fraction}`,
    ])
    return {
      kind: 'object',
      members: [
        ['kc', raw('65')],
        ['et', raw(i === 0 ? '0' : et)],
        ['h', raw(h)],
      ],
    } satisfies Node
  })
  return {
    kind: 'object',
    members: [
      ['version', json('1.0.0')],
      ['agent', json({ type: 'browser' })],
      ['k', { kind: 'array', items }],
    ],
  }
}

/** Bodies of any pattern with a change. */
const having = (change: (random: Random, node: Node) => void) => (random: Random) => {
  const node = anyPattern(random)
  change(random, node)
  return bytes(random, node)
}

/** Generators of bodies by kind: bodies that a client may send, and bodies that no client should send. */
export const KINDS: Readonly<Record<string, (random: Random) => Uint8Array>> = {
  valid: (random) => bytes(random, anyPattern(random)),
  spaced: (random) => bytes(random, anyPattern(random), { space: 0.2, escape: 0 }),
  shuffled: having((random, node) => {
    for (const one of containers(node)) if (one.kind === 'object') one.members = shuffled(one.members, random)
  }),
  mutated: (random) => mutated(random, bytes(random, anyPattern(random)), 1 + below(random, 3)),
  truncated(random) {
    const body = bytes(random, anyPattern(random))
    return body.subarray(0, below(random, body.length))
  },
  nested: having((random, node) => {
    anObject(random, node).push([pick(random, ['x', 'x', 'uaData', 'd']), nested(random, 1 + below(random, 10))])
  }),
  escaped: (random) => bytes(random, anyPattern(random), { space: 0, escape: pick(random, [0.0003, 0.002, 0.3]) }),
  'unknown fields': having((random, node) => {
    for (let i = below(random, 4); i >= 0; i--) {
      const members = anObject(random, node)
      members.splice(below(random, members.length + 1), 0, [
        pick(random, NAMES),
        raw(pick(random, ['1', '"\\n"', '[1e999,{}]', '{"a":[null,true]}', string(random)])),
      ])
    }
  }),
  duplicates: having((random, node) => {
    for (let i = below(random, 3); i >= 0; i--) {
      const members = anObject(random, node)
      if (members.length === 0) continue
      const [key, value] = pick(random, members)
      const other = pick(random, members)[1]
      members.splice(below(random, members.length + 1), 0, [key, pick(random, [value, value, other, oddValue(random)])])
    }
  }),
  'lists twice'(random) {
    const [node, other] = [anyPattern(random), anyPattern(random)]
    if (node.kind === 'object' && other.kind === 'object')
      node.members = shuffled([...node.members, ...other.members], random)
    return bytes(random, node)
  },
  poison(random) {
    const node = anyPattern(random)
    const members = anObject(random, node)
    members.splice(below(random, members.length + 1), 0, [pick(random, POISON), json(1)])
    return bytes(random, node, { space: 0, escape: pick(random, [0, 0.001]) })
  },
  'odd values': having((random, node) => {
    for (let i = below(random, 2); i >= 0; i--) replaceOne(random, node, () => oddValue(random))
  }),
  'odd numbers': having((random, node) => {
    for (let i = below(random, 3); i >= 0; i--) replaceOne(random, node, () => raw(pick(random, ODD_NUMBERS)), isNumber)
  }),
  'numbers in other notations': having((random, node) => {
    for (let i = below(random, 6); i >= 0; i--) {
      replaceOne(random, node, (before) => raw(before.kind === 'raw' ? renumbered(random, before) : '0'), isNumber)
    }
  }),
  'long numbers': (random) => bytes(random, numberRecords(random)),
  'missing fields': having((random, node) => {
    for (let i = below(random, 3); i >= 0; i--) {
      const members = anObject(random, node)
      members.splice(below(random, members.length), 1)
    }
  }),
  'moved items': having((random, node) => {
    const one = somewhere(random, node)
    const lists = containers(node).flatMap((list) => (list.kind === 'array' ? [list.items] : []))
    const items = lists.length > 0 ? pick(random, lists) : []
    const moved = items.splice(below(random, items.length), 1 + below(random, 2))
    items.splice(below(random, items.length + 1), 0, ...moved, ...(random() < 0.3 ? moved : []))
    if (one.kind === 'array' && random() < 0.2) one.items.push(oddValue(random))
  }),
  'too many': having((random, node) => {
    const over = below(random, 3) - 1
    const [name, item, n] = pick(random, [
      ['m', { et: 1, type: 'move' }, 2000],
      ['tags', { k: 'a', v: 'b' }, 32],
      ['tags', { k: 'a', v: 'b' }, 32],
      ['kevt', { et: 1, type: 'x', kc: 1 }, 1200],
      ['k', { et: 600, h: 80, kc: 1 }, 600],
      ['d', 'x', 512],
    ] as const)
    const items: Node = { kind: 'array', items: Array(n + over).fill(json(item)) }
    if (node.kind === 'object')
      node.members.push([name, name === 'd' ? { kind: 'object', members: [['fonts', items]] } : items])
  }),
  'pasted or composed': having((random, node) => {
    const keys = containers(node).flatMap((one) =>
      one.kind === 'object' && one.members.some(([name]) => name === 'kc' || name === 'c') ? [one.members] : [],
    )
    const composed = pick(random, [0, 0.3, 0.5, 0.5, 1])
    for (const members of keys) if (random() < composed) set(members, 'kc', '229')
    if (random() < 0.5) {
      const one = pick(random, keys)
      const [name, value] = pick(random, SHORTCUT_KEYS)
      set(one, name, value)
      for (const modifier of ['ctrlKey', 'metaKey', 'shiftKey', 'altKey']) {
        if (random() < 0.4) set(one, modifier, pick(random, ['true', 'true', 'false']))
      }
    }
  }),
  'many presses'(random) {
    const n = 490 + below(random, 20)
    const k = Array.from({ length: n }, (_, i) => ({ kc: 65, et: i * 100, h: 80 }))
    return bytes(random, json({ version: '1.0.0', agent: { type: 'b' }, k }))
  },
  'bad UTF-8'(random) {
    const body = bytes(random, anyPattern(random))
    const quote = body.indexOf(0x22, below(random, body.length - 30))
    return spliced(body, 1 + (random() < 0.8 ? quote : below(random, body.length)), pick(random, BAD_UTF8))
  },
  surroundings(random) {
    const body = bytes(random, anyPattern(random))
    const extras = ['', ' ', '\n\t\r ', '\ufeff', '\u00a0', '\u0000', '{}', ',', ']', '}', 'x', '[', '//', '\u2028']
    const text = `${pick(random, extras)}${new TextDecoder().decode(body)}${pick(random, extras)}`
    return pick(random, [
      utf8.encode(text),
      utf8.encode(text),
      new Uint8Array(),
      utf8.encode(pick(random, [...extras, ...ODD_VALUES])),
    ])
  },
  'nulls and misspelt names': having((random, node) => {
    for (let n = below(random, 4); n >= 0; n--) {
      const members = anObject(random, node)
      const [name = 'kevt'] = pick(random, [...members, [pick(random, NAMES)]])
      const value = raw(pick(random, ['null', 'null', '1', '{"mode":null,"Mode":1}', '"x"']))
      const spelt = pick(random, [name, name, misspelt(random, name)])
      if (random() < 0.5) set(members, spelt, written(value, random))
      else members.splice(below(random, members.length + 1), 0, [spelt, value])
    }
  }),
  /** A string with hostile characters, often at the length bounds of a field; valid Unicode text or not. */
  'hostile text': having((random, node) => {
    const hostile = pick(random, HOSTILE)
    const value = `"${'x'.repeat(pick(random, [0, 1, 13, 14, 15, 16, 30, 61, 62, 63, 64]))}${hostile}${pick(random, ['', 'y', hostile])}"`
    const where = below(random, 8)
    if (where === 0)
      anObject(random, node).push([
        JSON.parse(`"${pick(random, ['\\u0000', '\\ud800', 'a', '\\ud83d\\ude00'])}"`),
        raw('1'),
      ])
    else if (where === 1 && node.kind === 'object') {
      const tag = random() < 0.5 ? `{"k":${value},"v":"b"}` : `{"k":"a","v":${value}}`
      set(node.members, 'tags', pick(random, [`[${tag}]`, `[{"k":"app","v":"x"},${tag}]`]))
    } else if (where === 2)
      replaceOne(
        random,
        node,
        () => raw(value),
        (before) => before.kind === 'raw' && before.text.startsWith('"'),
      )
    else if (where === 3) set(anObject(random, node), pick(random, ['k', 'eId', 'unknown', 'fonts']), value)
    else {
      const [inside, name] = pick(random, TEXTS)
      if (node.kind === 'object') {
        const at = node.members.findIndex(([other]) => other === inside)
        const part = node.members[at]?.[1]
        if (inside === null) set(node.members, name, value)
        else if (part?.kind === 'object') set(part.members, name, value)
        else node.members.push(['d', { kind: 'object', members: [[name, raw(value)]] }])
      }
    }
  }),
}
