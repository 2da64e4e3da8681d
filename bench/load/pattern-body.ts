import type { TypedKey } from '../../src/typist/made-up-person.js'

/** The device of all typists: constant, as a person's device is. */
const DEVICE = JSON.stringify({
  ua: 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36',
  uaData: { architecture: 'x86', platform: 'Linux', mobile: false },
  sH: 1080,
  sW: 1920,
  iH: 947,
  iW: 1873,
  pxd: 24,
  dpr: 1,
  cpuThreads: 8,
  tz: 'Europe/Paris',
  navCookiesEnabled: true,
  navLanguage: 'en',
})
const LETTERS = 'abcdefghijklmnopqrstuvwxyz'
const named = (letter: string): string => {
  const upper = letter.toUpperCase()
  return letter === ' '
    ? '"k":" ","c":"Space","kc":32'
    : `"k":"${letter}","c":"Key${upper}","kc":${upper.charCodeAt(0)}`
}
/** JSON fragments by key: between the time and the number of an event, and before the times of a record. */
const KEYS = new Map(
  Array.from(`${LETTERS} `, (letter) => {
    const rest = `","eId":"words",${named(letter)},"r":false,"l":0,"ctrlKey":false,"altKey":false,"shiftKey":false,"metaKey":false,"seqn":`
    return [letter, { down: `,"type":"keydown${rest}`, up: `,"type":"keyup${rest}`, record: `{${named(letter)},"et":` }]
  }),
)

const HEAD = `{"agent":{"type":"browser","version":"1.0.0","mode":"visible"},"version":"1.0.0","tags":[{"k":"app","v":"load-test"}],"d":${DEVICE},`
/** Whole tenths of a ms. Small integers are serialized several times faster than fractions and epoch times. */
const tenths = (ms: number) => Math.round(ms * 10)
const shown = (tenth: number) =>
  tenth % 10 === 0 ? `${tenth / 10}` : `${Math.trunc(tenth / 10)}.${Math.abs(tenth % 10)}`
const MILLION = 1_000_000
const shownEpoch = (millions: number, rest: number) =>
  `${millions + Math.floor(rest / MILLION)}${`${MILLION + (rest % MILLION)}`.slice(1)}`

/**
 * The JSON of a typing pattern as the recorder sends it; letters a to z and Space. Concatenated as text: objects and
 * JSON.stringify would cost several times as much, and the load generator must cost less than the service. `endedAt` is
 * the epoch ms of sending, `ip` the end user's address.
 */
export function patternBody(keys: readonly TypedKey[], endedAt: number, ip: string): string {
  const begun = Math.floor(endedAt - (keys.at(-1)?.[2] ?? 0))
  const events: [at: number, between: string][] = []
  let k = ''
  let before = keys[0]?.[1] ?? 0
  for (const [letter, press, release] of keys) {
    const key = KEYS.get(letter)
    if (key === undefined) throw new Error(`no key for ${JSON.stringify(letter)}: only a to z and Space are supported`)
    events.push([tenths(press), key.down], [tenths(release), key.up])
    k += `${k === '' ? '' : ','}${key.record}${shown(tenths(press))},"s":${shown(tenths(press) - tenths(before))},"h":${shown(tenths(release) - tenths(press))}}`
    before = press
  }
  // The sort is stable and presses are in order; a keydown and a keyup at the same time may have either order.
  events.sort(([a], [b]) => a - b)
  const millions = Math.floor(begun / MILLION)
  const rest = begun % MILLION
  let kevt = ''
  for (let seqn = 0; seqn < events.length; seqn++) {
    const [at, between] = events[seqn] ?? [0, '']
    kevt += `${seqn === 0 ? '' : ','}{"t":${shownEpoch(millions, rest + Math.floor(at / 10))},"et":${shown(at)}${between}${seqn}}`
  }
  return `${HEAD}"ip":"${ip}","kevt":[${kevt}],"k":[${k}]}`
}
