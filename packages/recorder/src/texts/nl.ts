import type { Texts } from './texts.js'

export const nl: Texts = {
  count: 'Patroon {n} van {of}',
  words: 'Woorden om te typen',
  label: 'Typ deze woorden, met een spatie ertussen',
  help: 'In uw gewone tempo. Verbeter typefouten met Backspace.',
  mistyped: '“{typed}” moet “{word}” zijn. Wis het met Backspace en typ het opnieuw, alstublieft.',
  wordsLeft: 'Er ontbreken nog woorden.',
  sending: 'Een ogenblik …',
  pasted: 'Geplakte tekst laat niet zien hoe u typt. Typ de woorden alstublieft zelf.',
  filled: 'Uw browser of een hulpmiddel heeft tekst ingevuld. Typ de woorden alstublieft zelf.',
  inserted: 'Er kwam tekst zonder toetsaanslagen. Typ de woorden alstublieft toets voor toets.',
  composed:
    'Uw toetsenbord maakt tekens van meerdere toetsen, zoals voor Koreaans, Japans of Chinees. Schakel alstublieft over op Latijnse letters, of meld u op een andere manier aan, bijvoorbeeld met een code.',
  noKeys:
    'Dit toetsenbord vertelt niet welke toetsen u indrukt, zoals op de meeste telefoons. Gebruik een computer, met een Latijns toetsenbord.',
  phone:
    'Dit apparaat heeft zo te zien alleen een aanraakscherm. De meeste telefoontoetsenborden melden niet welke toetsen u indrukt. Gebruik alstublieft een computer.',
  coarseClock:
    'Om u te beschermen maakt deze browser zijn klok zo onnauwkeurig dat niet te zien is hoe u typt. Gebruik een andere browser.',
  paused: 'U nam een pauze, dat is prima. Begin deze woorden alstublieft opnieuw.',
  again: 'Dat is niet gelukt. Typ deze woorden alstublieft nog een keer.',
  machine: 'Dat leek te gelijkmatig voor een mens. Typ nog een keer, heel gewoon.',
  seenBefore: 'Dat leek precies op eerder typen. Typ deze woorden alstublieft opnieuw.',
  recordedTitle: 'Wat wordt er vastgelegd?',
  recorded: [
    'Wanneer elke toets omlaag en omhoog gaat terwijl u deze woorden typt, en welke toets het is.',
    'Het soort apparaat en browser, zoals de taal en de grootte van het scherm.',
    'Verder niets: geen andere pagina, geen ander veld, geen camera, geen cookies.',
    'Het wordt versleuteld en dient om u te herkennen wanneer u zich aanmeldt.',
  ],
}
