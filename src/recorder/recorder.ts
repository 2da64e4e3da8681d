/**
 * Records how somebody types into inputs of a page, as the typing pattern that the core API takes. It sends nothing, stores
 * nothing and asks nobody. Of an input's value it reads the length alone. All in one file, so that a page loads one module,
 * with no bundler between.
 */
import type { Device, KeyEvent, KeyName, KeyRecord, PointerRecord, Tag, TypingPattern } from './pattern.js'

export type { Device, KeyEvent, KeyName, KeyRecord, PointerRecord, Tag, TypingPattern }

/** Version on the wire; the service takes 1.x. */
export const RECORDER_VERSION = '1.0.0'

/** Why what came in cannot be judged as typing. */
export type Unusable =
  /** Nothing was typed. */
  | 'empty'
  /** Keys were pressed that the browser does not name, as on most phones' keyboards. */
  | 'noKeyEvents'
  /** An input method composed the text. */
  | 'composition'
  | 'pasted'
  | 'dropped'
  /** A password manager, the browser, a correction or a script filled in text. */
  | 'autofilled'
  /** Text came in that no key press accounts for: dictation, a suggestion that was tapped, an emoji. */
  | 'inserted'
  /** Too many presses whose release was lost. */
  | 'incomplete'
  /** The browser blurs its clock so much that typing by it tells nobody apart. */
  | 'coarseTimer'
  /** A pause of more than ten seconds. */
  | 'paused'
  /** Fewer than 15 presses, or less than a second. */
  | 'tooShort'
  /** More than 500 presses, or ten minutes. */
  | 'tooLong'

export type Input = HTMLInputElement | HTMLTextAreaElement

export interface RecorderOptions {
  /** What is typed into; more can be attached later. */
  readonly inputs?: Iterable<Input>
  /** `sensitive` keeps times and masks keys; `auto` (default) does so once a password field took part. */
  readonly mode?: 'auto' | 'visible' | 'sensitive'
  readonly tags?: readonly Tag[]
  /** Whether to record the pointer too, at most ten times a second from the first press on. Default false. */
  readonly pointer?: boolean
  /** Hears of every press, release and refusal, and of `reset`. */
  readonly onChange?: (state: RecorderState) => void
}

export interface RecorderState {
  /** Complete key presses so far, auto-repeat left out. */
  readonly presses: number
  /** Null where `take` would give a pattern now, unless a script has just changed an input. */
  readonly unusable: Unusable | null
}

/** A pattern, or why there is none: what was not typed is never handed out as if it were. */
export type Taken =
  | { readonly presses: number; readonly unusable: null; readonly pattern: TypingPattern }
  | { readonly presses: number; readonly unusable: Unusable; readonly pattern: null }

export interface Recorder {
  /** Throws a TypeError for a password field where the mode is `visible`. Twice is once. */
  attach(input: Input): void
  /** Records this input no longer; what was recorded stays. */
  detach(input: Input): void
  state(): RecorderState
  /** The pattern so far. Recording goes on: `reset` once it is sent, since the service takes a pattern once. */
  take(): Taken
  /** Forgets what was recorded: the next press begins a new pattern. */
  reset(): void
  /** Detaches every input and forgets what was recorded. */
  stop(): void
}

/** The service's own bounds (src/domain/typing-pattern.ts), so that nothing is sent that it would refuse. */
const PRESSES_MIN = 15
const PRESSES_MAX = 500
const CAPTURE_MIN_MS = 1_000
const CAPTURE_MAX_MS = 600_000
const HOLD_MAX_MS = 5_000
const OVERLAP_MAX_MS = 2_000
const FLIGHT_MAX_MS = 10_000
/** At a tick of 16.67 ms people are still told apart, at 100 ms hardly (docs/recorder.md). */
const TICK_MAX_MS = 25
/** Four kept presses to one lost. No measurement behind it: a lost release now and then says nothing. */
const KEPT_PER_LOST = 4
const POINTER_MAX = 500
const POINTER_EVERY_MS = 100
/** Their release comes late or never: the system keeps them for itself, or CapsLock tells its state, not the finger. */
const UNRELEASED = new Set(['MetaLeft', 'MetaRight', 'OSLeft', 'OSRight', 'CapsLock', 'PrintScreen', 'ContextMenu'])
const LINE_BREAKS = new Set(['insertLineBreak', 'insertParagraph'])
/** A dead key and its letter may come as one text. */
const KEY_TEXT_MAX = 2
/** Presses whose text has not come yet: an input method hands it over a little later. */
const OWED_MAX = 4

/** How text came in that was not typed, by `InputEvent.inputType`. */
const FOREIGN: Readonly<Record<string, Unusable>> = {
  insertFromPaste: 'pasted',
  insertFromPasteAsQuotation: 'pasted',
  insertFromYank: 'pasted',
  insertFromDrop: 'dropped',
  insertReplacementText: 'autofilled',
  insertFromComposition: 'composition',
}

type Flags = Pick<KeyEvent, 'l' | 'ctrlKey' | 'altKey' | 'shiftKey' | 'metaKey'>
const NO_FLAGS: Flags = { l: 0, ctrlKey: false, altKey: false, shiftKey: false, metaKey: false }

interface Moment {
  readonly ms: number
  /** Of arrival: coarse timers give several events the same time. */
  readonly order: number
  flags: Flags
}

interface Press {
  name: KeyName
  /** Which of the keys held at once it is, from 1: what is left of its name once it is masked. */
  readonly slot: number
  readonly eId: string
  readonly down: Moment
  up: Moment | null
}
type Complete = Press & { readonly up: Moment }

/** Makes a recorder and attaches it to the inputs given. A page may have several. */
export function createRecorder(options: RecorderOptions = {}): Recorder {
  const { mode = 'auto', tags = [], pointer = false, onChange } = options
  const sId = uuid()
  /** Attached inputs with the length of their value as last seen. */
  const lengths = new Map<Input, number>()
  /** Inputs that were password fields: showing the password makes it none the less secret. */
  const secrets = new WeakSet<Input>()
  let tId = 0
  let presses: Press[] = []
  /** By `code`. */
  let held = new Map<string, Press>()
  let moves: PointerRecord[] = []
  let foreign: Unusable | null = null
  let masked = mode === 'sensitive'
  let lost = 0
  let owed = 0
  /** Text-giving key presses for which the text of a dead key may still come. */
  let dead = 0
  let arrivals = 0
  let lastMs = 0

  const changed = () => onChange?.(state())
  function refuse(reason: Unusable): void {
    if (foreign !== null) return
    foreign = reason
    changed()
  }

  /** When the browser got the event, not when a busy page came to see it. Never decreases. */
  function momentOf(event: KeyboardEvent): Moment {
    lastMs = Math.max(lastMs, event.timeStamp || performance.now())
    return { ms: lastMs, order: arrivals++, flags: masked ? NO_FLAGS : flagsOf(event) }
  }

  /** From here on keys have no names, and those recorded before lose theirs. */
  function mask(): void {
    masked = true
    for (const press of presses) {
      press.name = maskedName(press.slot)
      for (const moment of [press.down, press.up]) if (moment !== null) moment.flags = NO_FLAGS
    }
  }

  function drop(code: string): void {
    const press = held.get(code)
    if (press === undefined) return
    held.delete(code)
    presses = presses.filter((other) => other !== press)
    lost++
  }

  function onKeyDown(event: Event): void {
    // A password manager sends key events of its own making, a browser that fills in sends events without a key.
    if (!(event instanceof KeyboardEvent) || !event.isTrusted) return
    const input = event.currentTarget as Input // only inputs are listened to
    const { code, key } = event
    if (!masked && (secrets.has(input) || isSecret(input))) mask()
    lookForScripts(input)
    const types = key.length === 1 || key === 'Dead'
    if (types && (event.altKey || !(event.ctrlKey || event.metaKey))) owed = Math.min(owed + 1, OWED_MAX)
    if (key === 'Dead') dead = 2
    else if (types || key === 'Process') dead = Math.max(0, dead - 1)
    if (code === '' && (event.keyCode === 229 || types)) refuse('noKeyEvents')
    // With Meta held macOS tells no release.
    if (code === '' || event.repeat || event.metaKey || UNRELEASED.has(code)) return
    if (presses.length > PRESSES_MAX) {
      refuse('tooLong')
      return
    }
    drop(code) // down again without an up: that release was lost, and with it the press
    const slots = new Set([...held.values()].map((press) => press.slot))
    let slot = 1
    while (slots.has(slot)) slot++
    const name = masked ? maskedName(slot) : { k: key, c: code, kc: event.keyCode }
    const press: Press = { name, slot, eId: input.id, down: momentOf(event), up: null }
    held.set(code, press)
    presses.push(press)
    changed()
  }

  /** Heard on the window: a key may come up after the focus has moved. Keys that went down elsewhere are passed over. */
  function onKeyUp(event: Event): void {
    if (!(event instanceof KeyboardEvent) || !event.isTrusted) return
    const press = held.get(event.code)
    if (press === undefined) return
    press.up = momentOf(event)
    const holdMs = press.up.ms - press.down.ms
    if (holdMs > 0 && holdMs <= HOLD_MAX_MS) held.delete(event.code)
    else drop(event.code)
    changed()
  }

  /** Whoever leaves the window lets go of keys where nobody sees it. */
  function letGo(): void {
    for (const code of [...held.keys()]) drop(code)
  }
  const onLeave = (event: Event) => {
    if (event.target === window || document.visibilityState === 'hidden') letGo()
  }

  function onInput(event: Event): void {
    const input = event.currentTarget as Input // only inputs are listened to
    const known = lengths.get(input) ?? 0
    const typed = event instanceof InputEvent && event.isTrusted ? event.inputType : ''
    const text = event instanceof InputEvent ? (event.data ?? '') : ''
    const reason = FOREIGN[typed]
    if (reason !== undefined) refuse(reason)
    else if (typed === 'insertText') account(text)
    else if (typed === 'insertCompositionText') {
      if (dead === 0 || text.length > KEY_TEXT_MAX) refuse('composition')
    } else if (typed === '') {
      // A browser that fills in says so without a kind of input; a page may tell itself of one, where only new text counts.
      if (event.isTrusted && input.value !== '') refuse('autofilled')
      else lookForScripts(input)
    } else if (input.value.length > known && !LINE_BREAKS.has(typed)) refuse('inserted')
    lengths.set(input, input.value.length)
  }

  /** A key press accounts for a character. */
  function account(text: string): void {
    const owes = owed
    owed = Math.max(0, owed - 1)
    if (owes === 0 || text.length > KEY_TEXT_MAX) refuse('inserted')
  }

  /** Text that changed without any event: a script wrote it. Emptying an input is the page's own affair. */
  function lookForScripts(input: Input): void {
    const known = lengths.get(input)
    const { length } = input.value
    lengths.set(input, length)
    if (length === 0) return
    if (length !== known || input.matches(':is(:autofill, :-webkit-autofill)')) refuse('autofilled')
  }

  function onPointer(event: Event): void {
    if (presses.length === 0 || moves.length >= POINTER_MAX || !event.isTrusted) return
    const type = event.type.replace('pointer', '') as PointerRecord['type'] // POINTERS are its four values
    const last = moves[moves.length - 1]
    const sinceMs = event.timeStamp - (last?.et ?? Number.NEGATIVE_INFINITY)
    if (sinceMs < (type === 'move' || type === 'scroll' ? POINTER_EVERY_MS : 0)) return
    const { clientX: mX = last?.mX ?? 0, clientY: mY = last?.mY ?? 0 } = event as Partial<MouseEvent>
    moves.push({
      et: event.timeStamp,
      type,
      sX: rounded(scrollX),
      sY: rounded(scrollY),
      mX: rounded(mX),
      mY: rounded(mY),
    })
  }

  const onInputs: Handlers = [
    [['keydown'], onKeyDown],
    [['input'], onInput],
  ]
  const onWindow: Handlers = [
    [['keyup'], onKeyUp],
    [['blur', 'visibilitychange'], onLeave],
    [pointer ? POINTERS : [], onPointer],
  ]

  const complete = (): Complete[] => presses.filter((press): press is Complete => press.up !== null)
  /** Without keys held so long under others that the service would not take them, such as Shift over many letters. */
  const kept = (): Complete[] =>
    complete().filter((press, i, all) => (all[i + 1]?.down.ms ?? press.up.ms) >= press.up.ms - OVERLAP_MAX_MS)

  const state = (): RecorderState => ({ presses: kept().length, unusable: foreign ?? problemOf(kept(), lost) })

  const recorder: Recorder = {
    attach(input) {
      if (mode === 'visible' && isSecret(input)) throw new TypeError('a password field cannot be recorded visibly')
      if (lengths.has(input)) return
      if (lengths.size === 0) listen(window, onWindow, 'add')
      lengths.set(input, input.value.length)
      if (isSecret(input)) secrets.add(input)
      listen(input, onInputs, 'add')
    },
    detach(input) {
      if (!lengths.delete(input)) return
      listen(input, onInputs, 'remove')
      if (lengths.size > 0) return
      letGo()
      listen(window, onWindow, 'remove')
    },
    state,
    take() {
      for (const input of lengths.keys()) lookForScripts(input)
      const done = kept()
      const unusable = foreign ?? problemOf(done, lost)
      if (unusable !== null) return { presses: done.length, unusable, pattern: null }
      const pattern: TypingPattern = {
        agent: { type: 'browser', version: RECORDER_VERSION, mode: masked ? 'sensitive' : 'visible' },
        version: RECORDER_VERSION,
        sId,
        tId: ++tId,
        tags: tags.map(({ k, v }) => ({ k, v })),
        ...keysOf(done),
        ...(pointer ? { m: sinceFirst(moves, done) } : {}),
        d: deviceOf(),
      }
      return { presses: done.length, unusable, pattern }
    },
    reset() {
      presses = []
      held = new Map()
      moves = []
      foreign = null
      masked = mode === 'sensitive'
      lost = 0
      for (const input of lengths.keys()) lengths.set(input, input.value.length)
      changed()
    },
    stop() {
      for (const input of [...lengths.keys()]) recorder.detach(input)
      recorder.reset()
    },
  }
  for (const input of options.inputs ?? []) recorder.attach(input)
  return recorder
}

type Handlers = readonly (readonly [types: readonly string[], handler: (event: Event) => void])[]
const POINTERS = ['pointermove', 'pointerdown', 'pointerup', 'scroll']

/** Captured, so that a page that stops an event does not lose it to the recorder. */
function listen(target: EventTarget, handlers: Handlers, what: 'add' | 'remove'): void {
  for (const [types, handler] of handlers)
    for (const type of types) {
      if (what === 'add') target.addEventListener(type, handler, { capture: true, passive: true })
      else target.removeEventListener(type, handler, { capture: true })
    }
}

const isSecret = (input: Input): boolean =>
  input.type === 'password' || /(current|new)-password|one-time-code/.test(input.autocomplete)

const maskedName = (slot: number): KeyName => ({ k: '', c: `Masked${slot}`, kc: 0 })

function flagsOf({ location, ctrlKey, altKey, shiftKey, metaKey }: KeyboardEvent): Flags {
  return { l: location, ctrlKey, altKey, shiftKey, metaKey }
}

/** Which bound of the service the presses break. */
function problemOf(done: readonly Complete[], lost: number): Unusable | null {
  const first = done[0]
  if (first === undefined && lost === 0) return 'empty'
  if (lost * KEPT_PER_LOST > Math.max(done.length, PRESSES_MIN)) return 'incomplete'
  if (first === undefined) return 'tooShort'
  if (done.some(({ down }, i) => down.ms - (done[i - 1] ?? first).down.ms > FLIGHT_MAX_MS)) return 'paused'
  const captureMs = Math.max(...done.map(({ up }) => up.ms)) - first.down.ms
  if (done.length > PRESSES_MAX || captureMs > CAPTURE_MAX_MS) return 'tooLong'
  if (done.length < PRESSES_MIN || captureMs < CAPTURE_MIN_MS) return 'tooShort'
  return isCoarse(done) ? 'coarseTimer' : null
}

/**
 * Whether all times lie on a grid of more than `TICK_MAX_MS`: nobody types so. Browsers blur a time by 0.1 ms or so: the
 * shortest gap tells how many ticks each has, and all of them together how long a tick is.
 */
function isCoarse(done: readonly Complete[]): boolean {
  const times = done.flatMap(({ down, up }) => [down.ms, up.ms]).sort((a, b) => a - b)
  const gaps = times.map((ms, i) => ms - (times[i - 1] ?? ms)).filter((gap) => gap > 0.5)
  const shortest = Math.min(...gaps)
  const ticks = gaps.map((gap) => Math.round(gap / shortest))
  const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)
  const tickMs = sum(gaps) / sum(ticks)
  return tickMs > TICK_MAX_MS && gaps.every((gap, i) => Math.abs(gap - tickMs * (ticks[i] ?? 0)) < 1)
}

/** To the microsecond: finer than browsers tell, and short in JSON. */
const rounded = (number: number): number => Math.round(number * 1000) / 1000

/** The presses as events in the order they came, and as records in the order of the presses. */
function keysOf(presses: readonly Complete[]): Pick<TypingPattern, 'kevt' | 'k'> {
  const originMs = presses[0]?.down.ms ?? 0
  const kevt = presses
    .flatMap(({ name, eId, down, up }) => [
      { type: 'keydown' as const, name, eId, ...down },
      { type: 'keyup' as const, name, eId, ...up },
    ])
    .sort((a, b) => a.order - b.order)
    .map(({ type, name, eId, ms, flags }, seqn) => ({
      t: rounded(performance.timeOrigin + ms),
      et: rounded(ms - originMs),
      type,
      eId,
      ...name,
      r: false,
      ...flags,
      seqn,
    }))
  const k = presses.map(({ name, down, up }, i) => ({
    ...name,
    et: rounded(down.ms - originMs),
    s: rounded(down.ms - (presses[i - 1] ?? { down }).down.ms),
    h: rounded(up.ms - down.ms),
  }))
  return { kevt, k }
}

function sinceFirst(moves: readonly PointerRecord[], presses: readonly Complete[]): PointerRecord[] {
  const originMs = presses[0]?.down.ms ?? 0
  return moves.filter(({ et }) => et >= originMs).map((move) => ({ ...move, et: rounded(move.et - originMs) }))
}

/** Client hints, which TypeScript's library does not know yet. */
interface WithHints {
  readonly userAgentData?: { readonly platform?: string; readonly mobile?: boolean }
}

/** What the browser says of itself to any page without being probed; no list of fonts and no name of a graphics card. */
function deviceOf(): Device {
  const { userAgentData: hints } = navigator as Navigator & WithHints // absent where it is not known
  return {
    ua: navigator.userAgent.slice(0, 1024),
    ...(hints === undefined ? {} : { uaData: { platform: hints.platform ?? '', mobile: hints.mobile ?? false } }),
    sH: screen.height,
    sW: screen.width,
    iH: innerHeight,
    iW: innerWidth,
    pxd: screen.colorDepth,
    dpr: devicePixelRatio,
    cpuThreads: navigator.hardwareConcurrency,
    tz: Intl.DateTimeFormat().resolvedOptions().timeZone,
    navCookiesEnabled: navigator.cookieEnabled,
    navLanguage: navigator.language,
  }
}

/** Version 4. `crypto.randomUUID` is there in secure contexts only. */
function uuid(): string {
  const hex = [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('')
  const variant = '89ab'[Number.parseInt(hex.charAt(16), 16) & 3]
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20)}`
}
