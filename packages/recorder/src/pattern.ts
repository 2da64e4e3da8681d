/** The typing pattern as the recorder writes it: the JSON body of the core API's enroll and verify calls. */
export interface TypingPattern {
  readonly agent: { readonly type: 'browser'; readonly version: string; readonly mode: 'visible' | 'sensitive' }
  /** Version of the recorder. */
  readonly version: string
  /** The same for all patterns of one recorder, which `tId` numbers. */
  readonly sId: string
  readonly tId: number
  readonly tags: readonly Tag[]
  readonly kevt: readonly KeyEvent[]
  readonly k: readonly KeyRecord[]
  /** Present only with the option `pointer`. */
  readonly m?: readonly PointerRecord[]
  readonly d: Device
}

/** At most 32 tags; names of up to 64 characters, values of up to 256. */
export interface Tag {
  readonly k: string
  readonly v: string
}

/** The name of a key. If it is masked, `k` is empty, `kc` is 0, and `c` only numbers the keys held at the time (`Masked1`, ...). */
export interface KeyName {
  readonly k: string
  readonly c: string
  readonly kc: number
}

export interface KeyEvent extends KeyName {
  /** Milliseconds since 1970. */
  readonly t: number
  /** Milliseconds since the first press. */
  readonly et: number
  readonly type: 'keydown' | 'keyup'
  /** `id` of the input. */
  readonly eId: string
  /** Auto-repeat, which is not recorded: always false. */
  readonly r: boolean
  readonly l: number
  readonly ctrlKey: boolean
  readonly altKey: boolean
  readonly shiftKey: boolean
  readonly metaKey: boolean
  /** Order of arrival, from 0. */
  readonly seqn: number
}

/** One press; times in ms. */
export interface KeyRecord extends KeyName {
  /** Time since the first press. */
  readonly et: number
  /** Time since the press before. */
  readonly s: number
  /** Hold time. */
  readonly h: number
}

/** Pointer in the viewport and scroll position, CSS pixels; `et` in ms since the first press. */
export interface PointerRecord {
  readonly et: number
  readonly type: 'move' | 'down' | 'up' | 'scroll'
  readonly sX: number
  readonly sY: number
  readonly mX: number
  readonly mY: number
}

export interface Device {
  readonly ua: string
  readonly uaData?: { readonly platform: string; readonly mobile: boolean }
  readonly sH: number
  readonly sW: number
  readonly iH: number
  readonly iW: number
  readonly pxd: number
  readonly dpr: number
  readonly cpuThreads: number
  readonly tz: string
  readonly navCookiesEnabled: boolean
  readonly navLanguage: string
}
