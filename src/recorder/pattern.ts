/** The typing pattern as the recorder writes it: the JSON body of the core API's enroll and verify calls. */
export interface TypingPattern {
  readonly agent: { readonly type: 'browser'; readonly version: string; readonly mode: 'visible' | 'sensitive' }
  /** Of the recorder. */
  readonly version: string
  /** The same for all patterns of one recorder; counted by `tId`. */
  readonly sId: string
  readonly tId: number
  readonly tags: readonly Tag[]
  readonly kevt: readonly KeyEvent[]
  readonly k: readonly KeyRecord[]
  /** Absent unless `pointer` was asked for. */
  readonly m?: readonly PointerRecord[]
  readonly d: Device
}

/** Up to 32 of them; 64 characters of name, 256 of value. */
export interface Tag {
  readonly k: string
  readonly v: string
}

/** What names a key. Masked: `k` empty, `kc` 0, and `c` says only which of the keys then held it is (`Masked1`, ...). */
export interface KeyName {
  readonly k: string
  readonly c: string
  readonly kc: number
}

export interface KeyEvent extends KeyName {
  /** Milliseconds since 1970, and since the first press. */
  readonly t: number
  readonly et: number
  readonly type: 'keydown' | 'keyup'
  /** `id` of the input. */
  readonly eId: string
  /** Always false: auto-repeat is dropped. */
  readonly r: boolean
  readonly l: number
  readonly ctrlKey: boolean
  readonly altKey: boolean
  readonly shiftKey: boolean
  readonly metaKey: boolean
  /** Order of arrival, from 0. */
  readonly seqn: number
}

/** Press time since the first press, since the press before, and how long the key was held; ms. */
export interface KeyRecord extends KeyName {
  readonly et: number
  readonly s: number
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
