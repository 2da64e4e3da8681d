/**
 * Records typing into inputs of a page as the typing pattern that the core API accepts. Sends nothing, stores nothing, and reads
 * only the length of an input's value. One file, so that a page loads one module without a bundler.
 */
import type { Device, KeyEvent, KeyName, KeyRecord, PointerRecord, Tag, TypingPattern } from './pattern.js'

export type { Device, KeyEvent, KeyName, KeyRecord, PointerRecord, Tag, TypingPattern }

/** Version on the wire; the service accepts 1.x. */
export const RECORDER_VERSION = '1.0.0'

/** Why the input cannot be judged as typing. */
export type Unusable =
  /** Nothing was typed. */
  | 'empty'
  /** The browser does not report which keys were pressed, as with most phone keyboards. */
  | 'noKeyEvents'
  /** An input method composed the text. */
  | 'composition'
  | 'pasted'
  | 'dropped'
  /** A password manager, the browser, an autocorrection or a script filled in text. */
  | 'autofilled'
  /** Text without a key press: dictation, a tapped suggestion, an emoji. */
  | 'inserted'
  /** Too many presses whose release was lost. */
  | 'incomplete'
  /** The browser's clock is too coarse to distinguish people. */
  | 'coarseTimer'
  /** A pause of more than ten seconds. */
  | 'paused'
  /** Fewer than 15 presses, or less than a second. */
  | 'tooShort'
  /** More than 500 presses, or ten minutes. */
  | 'tooLong'

export type Input = HTMLInputElement | HTMLTextAreaElement

export interface RecorderOptions {
  /** Inputs to record; more can be attached later. */
  readonly inputs?: Iterable<Input>
  /** `sensitive` keeps times and masks keys; `auto` (default) does so once a password field is typed into. */
  readonly mode?: 'auto' | 'visible' | 'sensitive'
  readonly tags?: readonly Tag[]
  /** Records the pointer too, at most ten times a second, from the first press on. Default false. */
  readonly pointer?: boolean
  /** Called after every press, release and refusal, and after `reset`. */
  readonly onChange?: (state: RecorderState) => void
}

export interface RecorderState {
  /** Complete key presses so far, without auto-repeat. */
  readonly presses: number
  /** Null if `take` would return a pattern now, unless a script has just changed an input or a key event is still to come. */
  readonly unusable: Unusable | null
}

/** A pattern, or the reason that there is none. Text that was not typed never becomes a pattern. */
export type Taken =
  | { readonly presses: number; readonly unusable: null; readonly pattern: TypingPattern }
  | { readonly presses: number; readonly unusable: Unusable; readonly pattern: null }

export interface Recorder {
  /** Records an input; idempotent. Throws a TypeError for a password field in the mode `visible`. */
  attach(input: Input): void
  /** Stops recording an input; recorded presses stay. */
  detach(input: Input): void
  state(): RecorderState
  /** The pattern so far. Recording goes on: `reset` once the pattern is sent, because the service accepts it only once. */
  take(): Taken
  /** Deletes all recorded presses: the next press begins a new pattern. */
  reset(): void
  /** Detaches every input and deletes all recorded presses. */
  stop(): void
}

/** The service's own bounds (src/domain/typing-pattern.ts): a pattern outside of them would be refused. */
const PRESSES_MIN = 15
const PRESSES_MAX = 500
const CAPTURE_MIN_MS = 1_000
const CAPTURE_MAX_MS = 600_000
const HOLD_MAX_MS = 5_000
const OVERLAP_MAX_MS = 2_000
const FLIGHT_MAX_MS = 10_000
/** A tick of 16.67 ms still distinguishes people, one of 100 ms hardly does (docs/integrate.md). */
const TICK_MAX_MS = 25
/** Four kept presses to one lost: a few lost releases do not matter. The value was not measured. */
const KEPT_PER_LOST = 4
const POINTER_MAX = 500
const POINTER_EVERY_MS = 100
/** Keys whose release comes late or never: the system takes them, or CapsLock reports its state instead of the finger. */
const UNRELEASED = new Set(['MetaLeft', 'MetaRight', 'OSLeft', 'OSRight', 'CapsLock', 'PrintScreen', 'ContextMenu'])
const LINE_BREAKS = new Set(['insertLineBreak', 'insertParagraph'])
/** A dead key and its letter may come as one text of two characters. */
const KEY_TEXT_MAX = 2
/** Most presses whose text is still to come: an input method delivers it later. */
const OWED_MAX = 4
/** A character that the menu of a held key offers, such as é. */
const ACCENTED = /^[\u0080-\uffff]$/
/** Characters of input methods. Safari reports Korean as replaced text. */
const COMPOSED = /[\p{Script=Hangul}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Bopomofo}]/u

/** The reason for text that was not typed, by `InputEvent.inputType`. */
const FOREIGN: Readonly<Record<string, Unusable>> = {
  insertFromPaste: 'pasted',
  insertFromPasteAsQuotation: 'pasted',
  insertFromYank: 'pasted',
  insertFromDrop: 'dropped',
}

type Flags = Pick<KeyEvent, 'l' | 'ctrlKey' | 'altKey' | 'shiftKey' | 'metaKey'>
const NO_FLAGS: Flags = { l: 0, ctrlKey: false, altKey: false, shiftKey: false, metaKey: false }

interface Moment {
  readonly ms: number
  /** Order of arrival: a coarse timer gives several events the same time. */
  readonly order: number
  flags: Flags
}

interface Press {
  name: KeyName
  /** Number of the key among those held at the same time, from 1; a masked key is named by it. */
  readonly slot: number
  readonly eId: string
  readonly down: Moment
  up: Moment | null
}
type Complete = Press & { readonly up: Moment }

/** Creates a recorder and attaches it to the given inputs. A page may have several. */
export function createRecorder(options: RecorderOptions = {}): Recorder {
  const { mode = 'auto', tags = [], pointer = false, onChange } = options
  const sId = uuid()
  let tId = 0
  let foreign: Unusable | null = null
  const keys = createKeyLog(mode === 'sensitive')
  const text = createTextWatch(refuse)
  const moves = createPointerLog()

  const problem = (): Unusable | null => foreign ?? problemOf(keys.kept(), keys.lost())
  const state = (): RecorderState => ({ presses: keys.kept().length, unusable: problem() })
  const changed = () => onChange?.(state())
  function refuse(reason: Unusable): void {
    if (foreign !== null) return
    foreign = reason
    changed()
  }

  const { onInputs, onWindow } = createHandlers({ keys, text, moves, pointer, refuse, changed })

  const recorder: Recorder = {
    attach(input) {
      if (mode === 'visible' && isSecret(input)) throw new TypeError('a password field cannot be recorded visibly')
      if (text.has(input)) return
      if (text.inputs().length === 0) listen(window, onWindow, 'add')
      text.add(input)
      listen(input, onInputs, 'add')
    },
    detach(input) {
      if (!text.remove(input)) return
      listen(input, onInputs, 'remove')
      if (text.inputs().length > 0) return
      keys.dropHeld()
      listen(window, onWindow, 'remove')
    },
    state,
    take() {
      text.lookForScripts()
      const done = keys.kept()
      const unusable = problem() ?? (text.isEarly() ? 'composition' : null)
      if (unusable !== null) return { presses: done.length, unusable, pattern: null }
      const pattern: TypingPattern = {
        agent: { type: 'browser', version: RECORDER_VERSION, mode: keys.isMasked() ? 'sensitive' : 'visible' },
        version: RECORDER_VERSION,
        sId,
        tId: ++tId,
        tags: tags.map(({ k, v }) => ({ k, v })),
        ...keysOf(done),
        ...(pointer ? { m: sinceFirst(moves.all(), done) } : {}),
        d: deviceOf(),
      }
      return { presses: done.length, unusable, pattern }
    },
    reset() {
      keys.reset()
      moves.reset()
      foreign = null
      text.reset()
      changed()
    },
    stop() {
      for (const input of text.inputs()) recorder.detach(input)
      recorder.reset()
    },
  }
  for (const input of options.inputs ?? []) recorder.attach(input)
  return recorder
}

interface HandlerNeeds {
  readonly keys: ReturnType<typeof createKeyLog>
  readonly text: ReturnType<typeof createTextWatch>
  readonly moves: ReturnType<typeof createPointerLog>
  readonly pointer: boolean
  readonly refuse: (reason: Unusable) => void
  readonly changed: () => void
}

/** The handlers of the inputs and of the window. */
function createHandlers({ keys, text, moves, pointer, refuse, changed }: HandlerNeeds) {
  function onKeyDown(event: Event): void {
    // A password manager sends untrusted key events; a browser that fills in a field sends events without a key.
    if (!(event instanceof KeyboardEvent) || !event.isTrusted) return
    const input = event.currentTarget as Input // only inputs are listened to
    if (text.isSecret(input)) keys.mask()
    text.onKeyDown(input, event)
    if (event.code === '' && (event.keyCode === 229 || givesText(event))) refuse('noKeyEvents')
    // While Meta is held, macOS sends no key releases.
    if (event.code === '' || event.repeat || event.metaKey || UNRELEASED.has(event.code)) return
    if (keys.down(event, input.id)) changed()
    else refuse('tooLong')
  }

  /** Listens on the window: a key may come up after the focus has moved. Ignores keys that went down elsewhere. */
  function onKeyUp(event: Event): void {
    if (event instanceof KeyboardEvent && event.isTrusted && keys.up(event)) changed()
  }

  /** Keys that are released while the window has no focus send no event. */
  const onLeave = (event: Event) => {
    if (event.target === window || document.visibilityState === 'hidden') keys.dropHeld()
  }

  const onPointer = (event: Event) => {
    if (!keys.isEmpty()) moves.add(event)
  }

  const onInputs: Handlers = [
    [['keydown'], onKeyDown],
    [['input'], text.onInput],
  ]
  const onWindow: Handlers = [
    [['keyup'], onKeyUp],
    [['blur', 'visibilitychange'], onLeave],
    [pointer ? POINTERS : [], onPointer],
  ]
  return { onInputs, onWindow }
}

/** Logs presses and releases. With `sensitive` it masks keys from the start. */
function createKeyLog(sensitive: boolean) {
  let presses: Press[] = []
  /** The held keys by `code`. */
  let held = new Map<string, Press>()
  let masked = sensitive
  let lost = 0
  const momentAt = createMoments()
  const momentOf = (event: KeyboardEvent): Moment => momentAt(event, masked ? NO_FLAGS : flagsOf(event))

  function drop(code: string): void {
    const press = held.get(code)
    if (press === undefined) return
    held.delete(code)
    presses = presses.filter((other) => other !== press)
    lost++
  }

  const complete = (): Complete[] => presses.filter((press): press is Complete => press.up !== null)

  return {
    isEmpty: () => presses.length === 0,
    isMasked: () => masked,
    lost: () => lost,
    /** Complete presses, without keys held so long under others that the service refuses them, such as Shift over many letters. */
    kept: (): Complete[] =>
      complete().filter((press, i, all) => (all[i + 1]?.down.ms ?? press.up.ms) >= press.up.ms - OVERLAP_MAX_MS),
    /** Removes the names of all keys, recorded and later ones. */
    mask(): void {
      if (masked) return
      masked = true
      for (const press of presses) {
        press.name = maskedName(press.slot)
        for (const moment of [press.down, press.up]) if (moment !== null) moment.flags = NO_FLAGS
      }
    },
    /** Returns false if there are too many presses already. */
    down(event: KeyboardEvent, eId: string): boolean {
      const { code, key, keyCode } = event
      if (presses.length > PRESSES_MAX) return false
      drop(code) // a second press without a release: the release of the first press was lost
      const slot = freeSlot(held.values())
      const name = masked ? maskedName(slot) : { k: key, c: code, kc: keyCode }
      const press: Press = { name, slot, eId, down: momentOf(event), up: null }
      held.set(code, press)
      presses.push(press)
      return true
    },
    /** Returns false if the key did not go down here. */
    up(event: KeyboardEvent): boolean {
      const press = held.get(event.code)
      if (press === undefined) return false
      press.up = momentOf(event)
      const holdMs = press.up.ms - press.down.ms
      if (holdMs > 0 && holdMs <= HOLD_MAX_MS) held.delete(event.code)
      else drop(event.code)
      return true
    },
    dropHeld(): void {
      for (const code of [...held.keys()]) drop(code)
    },
    reset(): void {
      presses = []
      held = new Map()
      masked = sensitive
      lost = 0
    },
  }
}

/** The times at which the browser got the events, not at which a busy page handles them. They never decrease. */
function createMoments() {
  let arrivals = 0
  let lastMs = 0
  return (event: KeyboardEvent, flags: Flags): Moment => {
    lastMs = Math.max(lastMs, event.timeStamp || performance.now())
    return { ms: lastMs, order: arrivals++, flags }
  }
}

function freeSlot(held: Iterable<Press>): number {
  const slots = new Set([...held].map((press) => press.slot))
  let slot = 1
  while (slots.has(slot)) slot++
  return slot
}

/** Sets text against the key presses that give it, and reports text without one to `refuse`. */
function createBalance(refuse: (reason: Unusable) => void) {
  let owed = 0
  /** Key presses with text during which the text of a dead key may still come. */
  let dead = 0
  /** The accent of a dead key came before its key event, as in Safari: the next press must be the dead key. */
  let early = false
  /** The last change of text is a typed character, which the menu of a held key may replace. */
  let replaceable = false

  function pay(): void {
    owed = Math.max(0, owed - 1)
  }

  return {
    pay,
    isEarly: () => early,
    press(event: KeyboardEvent): void {
      const { key } = event
      if (early && key !== 'Dead') refuse('composition')
      early = false
      const types = givesText(event)
      if (types && (event.altKey || !(event.ctrlKey || event.metaKey))) owed = Math.min(owed + 1, OWED_MAX)
      if (key === 'Dead') dead = 2
      else if (types || key === 'Process') dead = Math.max(0, dead - 1)
    },
    /**
     * Whether the text is an accented character from the menu of a held key. Browsers differ in the type of its event, and in whether
     * the choice from the menu is a key press.
     */
    accents(text: string, sameLength: boolean): boolean {
      replaceable = replaceable && sameLength && ACCENTED.test(text) && !COMPOSED.test(text)
      return replaceable
    },
    /** Takes a typed character; a key press must account for it, unless it `accents` another one. */
    account(text: string, accents: boolean): void {
      if (accents && owed === 0) return
      replaceable = owed > 0 && text.length === 1
      if (owed === 0 || text.length > KEY_TEXT_MAX) refuse('inserted')
      pay()
    },
    /** Takes composed text. `whole` text is an accent with its letter, so the dead key was pressed before. */
    compose(text: string, whole: boolean): void {
      if (text.length > KEY_TEXT_MAX || (dead === 0 && (whole || early))) refuse('composition')
      else if (dead === 0 && text !== '') early = true
      pay()
    },
    reset(): void {
      early = false
      replaceable = false
    },
  }
}

/** Watches the inputs for text that was not typed, and reports it to `refuse`. */
function createTextWatch(refuse: (reason: Unusable) => void) {
  /** Attached inputs with the last known length of their value. */
  const lengths = new Map<Input, number>()
  /** Inputs that were password fields: showing the password does not make it public. */
  const secrets = new WeakSet<Input>()
  const balance = createBalance(refuse)

  /** Refuses text that changed without an event: a script wrote it. An emptied input is not refused. */
  function lookForScript(input: Input): void {
    const known = lengths.get(input)
    const { length } = input.value
    lengths.set(input, length)
    if (length === 0) return
    if (length !== known || input.matches(':is(:autofill, :-webkit-autofill)')) refuse('autofilled')
  }

  return {
    has: (input: Input) => lengths.has(input),
    inputs: () => [...lengths.keys()],
    isSecret: (input: Input) => secrets.has(input) || isSecret(input),
    add(input: Input): void {
      lengths.set(input, input.value.length)
      if (isSecret(input)) secrets.add(input)
    },
    remove: (input: Input) => lengths.delete(input),
    onKeyDown(input: Input, event: KeyboardEvent): void {
      lookForScript(input)
      balance.press(event)
    },
    onInput(event: Event): void {
      const input = event.currentTarget as Input // only inputs are listened to
      const known = lengths.get(input) ?? 0
      const typed = event instanceof InputEvent && event.isTrusted ? event.inputType : ''
      const text = event instanceof InputEvent ? (event.data ?? '') : ''
      const reason = FOREIGN[typed]
      const accents = balance.accents(text, input.value.length === known)
      if (reason !== undefined) refuse(reason)
      else if (typed === 'insertReplacementText') {
        if (!accents) refuse(COMPOSED.test(text) ? 'composition' : 'autofilled')
        balance.pay()
      } else if (typed === 'insertText') balance.account(text, accents)
      else if (typed === 'insertCompositionText') balance.compose(text, false)
      else if (typed === 'insertFromComposition') balance.compose(text, true)
      else if (typed === '') {
        // A browser that fills in text sends a trusted event without an input type. A page sends untrusted events.
        if (event.isTrusted && input.value !== '') refuse('autofilled')
        else lookForScript(input)
      } else if (input.value.length > known && !LINE_BREAKS.has(typed)) refuse('inserted')
      lengths.set(input, input.value.length)
    },
    lookForScripts(): void {
      for (const input of lengths.keys()) lookForScript(input)
    },
    isEarly: balance.isEarly,
    reset(): void {
      balance.reset()
      for (const input of lengths.keys()) lengths.set(input, input.value.length)
    },
  }
}

/** Logs the pointer, `POINTER_MAX` records at most. */
function createPointerLog() {
  let moves: PointerRecord[] = []
  return {
    all: (): readonly PointerRecord[] => moves,
    add(event: Event): void {
      if (moves.length >= POINTER_MAX || !event.isTrusted) return
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
    },
    reset(): void {
      moves = []
    },
  }
}

type Handlers = readonly (readonly [types: readonly string[], handler: (event: Event) => void])[]
const POINTERS = ['pointermove', 'pointerdown', 'pointerup', 'scroll']

/** Listens in the capture phase: the recorder gets events whose propagation the page stops. */
function listen(target: EventTarget, handlers: Handlers, what: 'add' | 'remove'): void {
  for (const [types, handler] of handlers)
    for (const type of types) {
      if (what === 'add') target.addEventListener(type, handler, { capture: true, passive: true })
      else target.removeEventListener(type, handler, { capture: true })
    }
}

/** Whether a key press gives text, at once or as a dead key. */
const givesText = ({ key }: KeyboardEvent): boolean => key.length === 1 || key === 'Dead'

const isSecret = (input: Input): boolean =>
  input.type === 'password' || /(current|new)-password|one-time-code/.test(input.autocomplete)

const maskedName = (slot: number): KeyName => ({ k: '', c: `Masked${slot}`, kc: 0 })

function flagsOf({ location, ctrlKey, altKey, shiftKey, metaKey }: KeyboardEvent): Flags {
  return { l: location, ctrlKey, altKey, shiftKey, metaKey }
}

/** The bound of the service that the presses violate; null if they violate none. */
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
 * Whether all times lie on a grid of more than `TICK_MAX_MS`, which typing never does. Browsers blur a time by about 0.1 ms, so
 * the shortest gap gives the number of ticks of each gap, and the sum of the gaps gives the length of a tick.
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

/** Rounds to a microsecond: finer than browsers report, and short in JSON. */
const rounded = (number: number): number => Math.round(number * 1000) / 1000

/** The presses as events in order of arrival, and as records in order of the presses. */
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

/** Client hints, which TypeScript's library does not declare. */
interface WithHints {
  readonly userAgentData?: { readonly platform?: string; readonly mobile?: boolean }
}

/** Facts that the browser gives any page without probing; no list of fonts and no name of a graphics card. */
function deviceOf(): Device {
  const { userAgentData: hints } = navigator as Navigator & WithHints // undefined in browsers without client hints
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
    tz: zoneOf(),
    navCookiesEnabled: navigator.cookieEnabled,
    navLanguage: navigator.language,
  }
}

/** Empty where `Intl` refuses the system's locale or zone. */
function zoneOf(): string {
  try {
    return Intl.DateTimeFormat().resolvedOptions().timeZone
  } catch {
    return ''
  }
}

/** A UUID of version 4. `crypto.randomUUID` exists only in secure contexts. */
function uuid(): string {
  const hex = [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('')
  const variant = '89ab'[Number.parseInt(hex.charAt(16), 16) & 3]
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20)}`
}
