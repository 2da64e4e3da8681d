import type { Texts } from './texts.js'

export const es: Texts = {
  count: 'Muestra {n} de {of}',
  words: 'Palabras para escribir',
  label: 'Escriba estas palabras, con un espacio entre ellas',
  help: 'A su ritmo de siempre. Corrija los errores con la tecla de retroceso.',
  mistyped: '«{typed}» debería ser «{word}». Bórrelo con la tecla de retroceso y tecléelo de nuevo, por favor.',
  wordsLeft: 'Todavía faltan palabras.',
  sending: 'Un momento…',
  pasted: 'Un texto pegado no muestra cómo teclea. Por favor, escriba usted las palabras.',
  filled: 'Su navegador o un asistente rellenó el texto. Por favor, escriba usted las palabras.',
  inserted: 'Llegó texto sin pulsaciones. Por favor, escriba las palabras tecla a tecla.',
  composed:
    'Su teclado forma caracteres con varias teclas, como para coreano, japonés o chino. Por favor, cámbielo a letras latinas o inicie sesión de otra manera, por ejemplo con un código.',
  noKeys:
    'Este teclado no dice qué teclas pulsa, como en la mayoría de los teléfonos. Por favor, use un ordenador con teclado latino.',
  phone:
    'Este dispositivo parece tener solo pantalla táctil. La mayoría de los teclados de teléfono no indican qué teclas pulsa. Por favor, use un ordenador.',
  coarseClock:
    'Para protegerle, este navegador difumina su reloj tanto que no se ve cómo teclea. Por favor, use otro navegador.',
  paused: 'Hizo una pausa; no pasa nada. Por favor, empiece de nuevo estas palabras.',
  again: 'No ha funcionado. Por favor, escriba estas palabras otra vez.',
  machine: 'Parecía demasiado regular para una persona. Escriba otra vez, con toda naturalidad.',
  seenBefore: 'Parecía exactamente igual a un tecleo anterior. Por favor, escriba estas palabras de nuevo.',
  recordedTitle: '¿Qué se registra?',
  recorded: [
    'Cuándo baja y sube cada tecla mientras escribe estas palabras, y qué tecla es.',
    'El tipo de su dispositivo y navegador, como su idioma y el tamaño de la pantalla.',
    'Nada más: ninguna otra página, ningún otro campo, ni cámara, ni cookies.',
    'Se cifra y sirve para reconocerle cuando inicia sesión.',
  ],
}
