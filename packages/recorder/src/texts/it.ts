import type { Texts } from './texts.js'

export const it: Texts = {
  count: 'Campione {n} di {of}',
  words: 'Parole da scrivere',
  label: 'Scriva queste parole, con uno spazio fra l’una e l’altra',
  help: 'Al suo ritmo abituale. Corregga gli errori con il tasto Backspace.',
  mistyped: '“{typed}” dovrebbe essere “{word}”. Lo cancelli con il tasto Backspace e lo digiti di nuovo, per favore.',
  wordsLeft: 'Mancano ancora delle parole.',
  sending: 'Un momento…',
  pasted: 'Un testo incollato non mostra come digita. Scriva lei le parole, per favore.',
  filled: 'Il browser o un programma ha inserito del testo. Scriva lei le parole, per favore.',
  inserted: 'È arrivato del testo senza tasti premuti. Scriva le parole tasto per tasto, per favore.',
  composed:
    'La Sua tastiera compone i caratteri con più tasti, come per coreano, giapponese o cinese. Passi alle lettere latine, oppure acceda in un altro modo, per esempio con un codice.',
  noKeys:
    'Questa tastiera non dice quali tasti preme, come su quasi tutti i telefoni. Usi un computer, con una tastiera latina.',
  phone:
    'Questo dispositivo sembra avere solo uno schermo tattile. La maggior parte delle tastiere dei telefoni non indica i tasti premuti. Usi un computer, per favore.',
  coarseClock:
    'Per proteggerla, questo browser confonde il proprio orologio tanto da nascondere come digita. Usi un altro browser.',
  paused: 'Ha fatto una pausa, va bene così. Ricominci queste parole, per favore.',
  again: 'Non ha funzionato. Scriva ancora una volta queste parole, per favore.',
  machine: 'Sembrava troppo regolare per una persona. Scriva ancora, con naturalezza.',
  seenBefore: 'Sembrava proprio uguale a una digitazione precedente. Scriva di nuovo queste parole, per favore.',
  recordedTitle: 'Che cosa viene registrato?',
  recorded: [
    'Quando ogni tasto scende e risale mentre scrive queste parole, e quale tasto è.',
    'Il tipo di dispositivo e di browser, come la lingua e le dimensioni dello schermo.',
    'Nient’altro: nessun’altra pagina, nessun altro campo, né fotocamera, né cookie.',
    'È cifrato e serve a riconoscerla quando accede.',
  ],
}
