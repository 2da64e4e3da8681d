import type { Texts } from './texts.js'

export const de: Texts = {
  count: 'Muster {n} von {of}',
  words: 'Wörter zum Tippen',
  label: 'Tippen Sie diese Wörter, jeweils mit einem Leerzeichen dazwischen',
  help: 'In Ihrem üblichen Tempo. Vertipper korrigieren Sie mit der Rücktaste.',
  mistyped: '„{typed}“ sollte „{word}“ heißen. Bitte löschen Sie es mit der Rücktaste und tippen Sie es neu.',
  wordsLeft: 'Es fehlen noch Wörter.',
  sending: 'Einen Moment …',
  pasted: 'Eingefügter Text zeigt nicht, wie Sie tippen. Bitte tippen Sie die Wörter selbst.',
  filled: 'Ihr Browser oder ein Hilfsprogramm hat Text eingesetzt. Bitte tippen Sie die Wörter selbst.',
  inserted: 'Es kam Text ohne Tastendruck. Bitte tippen Sie die Wörter Taste für Taste.',
  composed:
    'Ihre Tastatur bildet Zeichen aus mehreren Tasten, wie für Koreanisch, Japanisch oder Chinesisch. Bitte stellen Sie sie auf lateinische Buchstaben um, oder melden Sie sich anders an, etwa mit einem Code.',
  noKeys:
    'Diese Tastatur verrät nicht, welche Tasten Sie drücken, wie bei den meisten Telefonen. Bitte nehmen Sie einen Computer mit lateinischer Tastatur.',
  phone:
    'Dieses Gerät hat anscheinend nur einen Touchscreen. Die meisten Telefontastaturen melden nicht, welche Tasten Sie drücken. Bitte nehmen Sie einen Computer.',
  coarseClock:
    'Dieser Browser macht zu Ihrem Schutz seine Uhr so ungenau, dass Ihr Tippen nicht zu erkennen ist. Bitte nehmen Sie einen anderen Browser.',
  paused: 'Sie haben eine Pause gemacht, das ist in Ordnung. Bitte beginnen Sie diese Wörter noch einmal.',
  again: 'Das hat nicht geklappt. Bitte tippen Sie diese Wörter noch einmal.',
  machine: 'Das sah zu gleichmäßig für einen Menschen aus. Bitte tippen Sie noch einmal, ganz natürlich.',
  seenBefore: 'Das sah genau aus wie früher Getipptes. Bitte tippen Sie diese Wörter noch einmal neu.',
  recordedTitle: 'Was wird aufgezeichnet?',
  recorded: [
    'Wann Sie beim Tippen dieser Wörter jede Taste drücken und loslassen, und welche Taste es ist.',
    'Die Art Ihres Geräts und Browsers, etwa seine Sprache und die Größe des Bildschirms.',
    'Sonst nichts: keine andere Seite, kein anderes Feld, keine Kamera, keine Cookies.',
    'Es wird verschlüsselt und dient dazu, Sie bei der Anmeldung zu erkennen.',
  ],
}
