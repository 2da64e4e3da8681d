/** Index 0 is any other, unknown or masked key. */
export const KEY_UNKNOWN = 0

/**
 * The canonical key table, in index order from 1. Each row has `KeyboardEvent.code`s, legacy `keyCode`s and names in research
 * data. Left and right modifiers are one key, because the legacy code does not distinguish them. Firefox's legacy codes
 * for `;`, `=`, `-` and `Meta` are included. The model file and stored samples contain indices, so rows are only appended.
 */
const TABLE: readonly (readonly [codes: string, keyCodes: readonly number[], names: string])[] = [
  ...Array.from('ABCDEFGHIJKLMNOPQRSTUVWXYZ', (letter, i) => [`Key${letter}`, [65 + i], letter.toLowerCase()] as const),
  ...Array.from('0123456789', (digit, i) => [`Digit${digit}`, [48 + i], digit] as const),
  ['Space', [32], 'space'],
  ['Backspace', [8], 'backspace'],
  ['Enter NumpadEnter', [13], 'enter'],
  ['Tab', [9], 'tab'],
  ['ShiftLeft ShiftRight', [16], 'shift'],
  ['ControlLeft ControlRight', [17], 'ctrl control'],
  ['AltLeft AltRight', [18, 225], 'alt'],
  ['CapsLock', [20], 'caps_lock capslock'],
  ['Escape', [27], 'escape esc'],
  ['ArrowLeft', [37], 'left'],
  ['ArrowUp', [38], 'up'],
  ['ArrowRight', [39], 'right'],
  ['ArrowDown', [40], 'down'],
  ['Delete', [46], 'delete'],
  ['Home', [36], 'home'],
  ['End', [35], 'end'],
  ['PageUp', [33], 'page_up'],
  ['PageDown', [34], 'page_down'],
  ['Insert', [45], 'insert'],
  ['Semicolon', [186, 59], 'semicolon ;'],
  ['Equal', [187, 61], 'equals ='],
  ['Comma', [188], 'comma ,'],
  ['Minus', [189, 173], 'dash -'],
  ['Period', [190], 'period .'],
  ['Slash', [191], 'slash /'],
  ['Backquote', [192], 'back_quote `'],
  ['BracketLeft', [219], 'open_bracket ['],
  ['Backslash', [220], 'back_slash \\'],
  ['BracketRight', [221], 'close_bracket ]'],
  ['Quote', [222], "quote '"],
  ['MetaLeft MetaRight', [91, 92, 224], 'windows meta'],
  ['IntlBackslash', [226], ''],
  ...Array.from('0123456789', (digit, i) => [`Numpad${digit}`, [96 + i], `numpad_${digit}`] as const),
  ['NumpadMultiply', [106], ''],
  ['NumpadAdd', [107], ''],
  ['NumpadSubtract', [109], ''],
  ['NumpadDecimal', [110], ''],
  ['NumpadDivide', [111], ''],
  ['NumLock', [144], 'num_lock'],
  ['ContextMenu', [93], ''],
]

/** Index of each `KeyboardEvent.code` of the table. */
export const KEYS_BY_CODE: ReadonlyMap<string, number> = new Map(
  TABLE.flatMap(([codes], i) => codes.split(' ').map((code) => [code, i + 1] as const)),
)
/** Index of each legacy key code of the table; all codes are below 256. */
export const KEYS_BY_KEY_CODE: ReadonlyMap<number, number> = new Map(
  TABLE.flatMap(([, keyCodes], i) => keyCodes.map((keyCode) => [keyCode, i + 1] as const)),
)
const byName = new Map(TABLE.flatMap(([, , names], i) => names.split(' ').map((name) => [name, i + 1] as const)))

/** A readable name of a key: the letter or digit, else the first of its codes; null if unknown or masked. */
export function keyName(key: number): string | null {
  const [codes, , names] = TABLE[key - 1] ?? []
  if (codes === undefined || names === undefined) return null
  return /^[a-z0-9]$/.test(names)
    ? names
    : (codes.split(' ')[0]?.replace(/^(Shift|Control|Alt|Meta)Left$/, '$1') ?? null)
}

/** Index of a physical key (`c`, KeyboardEvent.code); 0 if unknown. */
export const keyOfCode = (code: string): number => KEYS_BY_CODE.get(code) ?? KEY_UNKNOWN

/** Index of a legacy key code (`kc`, KeyboardEvent.keyCode); 0 if unknown. */
export const keyOfKeyCode = (keyCode: number): number => KEYS_BY_KEY_CODE.get(keyCode) ?? KEY_UNKNOWN

/** Index of a character or key name of research data, ignoring case; 0 if unknown. */
export const keyOfName = (name: string): number =>
  name === ' ' ? keyOfCode('Space') : (byName.get(name.toLowerCase()) ?? KEY_UNKNOWN)

/**
 * Index of a key of a typing pattern. Our choice: the legacy code has priority. It names the letter on every layout, while
 * `c` names the position, and the reference population was recorded with legacy codes.
 */
export const keyOf = (key: { readonly kc?: number | undefined; readonly c?: string | undefined }): number =>
  (key.kc === undefined ? KEY_UNKNOWN : keyOfKeyCode(key.kc)) || (key.c === undefined ? KEY_UNKNOWN : keyOfCode(key.c))
