import type { Texts } from '../texts.js'

export const es: Texts = {
  kinds: {
    'create-profile': {
      title: 'Su forma de teclear',
      text: 'Su tecleo tiene un ritmo propio. Escriba unas palabras unas cinco veces, como siempre lo hace, y así le reconoceremos.',
    },
    'reset-profile': {
      title: 'Renovar su perfil de tecleo',
      text: 'Escriba unas palabras, como siempre lo hace. Su perfil actual sigue valiendo hasta que el nuevo esté completo.',
    },
    'complete-profile': {
      title: 'Completar su perfil de tecleo',
      text: 'Escriba unas palabras más, como siempre lo hace, y le reconoceremos con más seguridad.',
    },
  },
  typing: {
    count: 'Muestra {n} de {of}',
    words: 'Palabras para escribir',
    label: 'Escriba estas palabras, con un espacio entre ellas',
    help: 'A su ritmo de siempre. Los pequeños errores no importan.',
    next: 'Continuar',
    mistyped: '«{typed}» debería ser «{word}». Vuelva atrás y corríjalo, por favor.',
    wordsLeft: 'Todavía faltan palabras.',
    sending: 'Un momento…',
    saved: 'Listo. Aquí están las siguientes palabras.',
    pasted: 'Un texto pegado no muestra cómo teclea. Por favor, escriba usted las palabras.',
    filled: 'Su navegador o un asistente rellenó el texto. Por favor, escriba usted las palabras.',
    inserted: 'Llegó texto sin pulsaciones. Por favor, escriba las palabras tecla a tecla.',
    noKeys:
      'Este teclado no dice qué teclas pulsa, como en la mayoría de los teléfonos. Por favor, abra este enlace en un ordenador con teclado latino.',
    coarseClock:
      'Para protegerle, este navegador difumina su reloj tanto que no se ve cómo teclea. Por favor, abra el enlace en otro navegador.',
    paused: 'Hizo una pausa; no pasa nada. Por favor, empiece de nuevo estas palabras.',
    again: 'No ha funcionado. Por favor, escriba estas palabras otra vez.',
    machine: 'Parecía demasiado regular para una persona. Escriba otra vez, con toda naturalidad.',
    seenBefore: 'Parecía exactamente igual a un tecleo anterior. Por favor, escriba estas palabras de nuevo.',
    wait: 'Han sido demasiados intentos. Por favor, abra este enlace de nuevo en {minutes} min.',
    trouble: 'No se pudo contactar con el servicio. Lo que ya terminó se conserva.',
    retry: 'Intentar de nuevo',
  },
  needsScript:
    'Esta página necesita JavaScript y un navegador de los últimos años. Por favor, actívelo o abra el enlace en otro navegador.',
  recorded: {
    title: '¿Qué se registra?',
    items: [
      'Cuándo baja y sube cada tecla mientras escribe estas palabras, y qué tecla es.',
      'El tipo de su dispositivo y navegador, como su idioma y el tamaño de la pantalla.',
      'Nada más: ninguna otra página, ningún otro campo, ni cámara, ni cookies.',
      'Se cifra y sirve para reconocerle cuando inicia sesión.',
    ],
  },
  done: {
    title: 'Gracias. Todo listo.',
    text: 'Desde ahora, su tecleo habla por usted.',
    close: 'Puede cerrar esta página.',
    leaving: 'Le llevamos a {host}.',
    onward: 'Continuar a {host}',
  },
  nothingLeft: {
    title: 'No queda nada por hacer',
    text: 'Su perfil de tecleo ya está completo. Puede cerrar esta página.',
  },
  gone: {
    title: 'Este enlace no funciona (o ya no)',
    text: 'Puede que ya haya cumplido su tarea, que se haya sustituido por otro, que se haya retirado o que haya caducado. Si acaba de terminar, todo está bien. Si no, pida uno nuevo a quien se lo envió.',
  },
  unavailable: {
    title: 'Un momento, por favor',
    text: 'El servicio no está disponible ahora mismo. No se ha perdido nada: inténtelo de nuevo en un minuto.',
  },
  language: 'Idioma',
}
