import { seededRandom } from '../../src/calibration/random.js'

const PIECES = [
  ...['\r\n', '\n', '\r', '\0', '\t', '\u2028', '\u2029', '\u0085', '\u001b[2J', '\u007f', '\ud800', '\ufeff'],
  ...['=1+1', '+1', '-1', '@SUM(A1)', '=HYPERLINK("http://evil.example")', '\uff1d1', '|cmd', ',', ';', '"', '""', "'"],
  ...['{"level":50,"msg":"forged"}', '}\n{"msg":"forged"}', '\\', '\\"', '</script>', '<img src=x onerror=alert(1)>'],
  ...[
    '<13>1 - - forged - - - -',
    ' 12 <13>1 - - forged',
    '"]',
    ']',
    '[x@1 a="b"]',
    'Bcc: z@evil.example',
    '%s%n',
    '$(x)',
  ],
  ...['é', '日本', '\u{1f600}', 'ann', ' ', '0'],
]

/** Texts that try to break out of a line, a cell or a frame, the same for the same seed. */
export function hostileTexts(count: number, seed: number): string[] {
  const random = seededRandom(seed)
  const below = (n: number) => Math.floor(random() * n)
  return Array.from({ length: count }, () =>
    Array.from({ length: 1 + below(5) }, () =>
      random() < 0.85 ? PIECES[below(PIECES.length)] : String.fromCodePoint(below(0x300)),
    ).join(''),
  )
}
