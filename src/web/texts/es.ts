import type { Texts } from './texts.js'

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
    next: 'Continuar',
    saved: 'Listo. Aquí están las siguientes palabras.',
    wait: 'Por ahora no se pueden aceptar más palabras. Por favor, abra esta página de nuevo {when}.',
    later:
      'Gracias, eso es todo por ahora: este perfil se escribe en varios días. Por favor, abra este enlace de nuevo {when}.',
    trouble: 'No se pudo contactar con el servicio. Lo que ya terminó se conserva.',
    retry: 'Intentar de nuevo',
  },
  trying: {
    pageTitle: 'Pruebe Keystride con usted',
    title: 'Pruébelo con usted',
    lead: 'Escriba unas palabras cinco veces, como siempre. Vea después si el servicio reconoce su forma de teclear, qué teclas fueron decisivas y qué ocurre cuando otra persona ocupa su lugar.',
    somebodyElse: '0 %, otra persona',
    you: 'usted, 100 %',
    pairs: 'Los indicios, par de teclas a par de teclas',
    pairsHelp:
      'Cada barra muestra cuánto más probables son estos tiempos en usted que en otras personas. Una barra hacia la derecha habla a su favor.',
    keys: 'Teclas',
    weight: 'En contra · a favor',
    usual: 'Habitual',
    here: 'Aquí',
    notTheSum:
      'La confianza no es la suma de las barras. El modelo pondera varios cientos de medidas, entre ellas estas.',
    again: 'Escribir otra vez',
    friend: 'Dejar probar a otra persona',
    history: 'Hasta ahora',
    forget: 'Borrar mis datos',
    complete: 'Su perfil está completo. Escriba una vez más para iniciar sesión.',
    yourTurn: 'Su turno: inicie sesión',
    friendsTurn: 'Turno de otra persona: las mismas palabras, a su ritmo',
    youTried: 'Usted: {result}',
    friendTried: 'Otra persona: {result}',
    notScored: 'sin evaluar',
    confidence: 'Confianza {percent} %; basta el 50 % para iniciar sesión.',
    locked: {
      title: 'Bloqueado un momento',
      text: 'Han fallado demasiados intentos. El próximo se evaluará dentro de {seconds} s.',
    },
    machine: { title: 'Eso lo ha escrito una máquina', text: 'Los tiempos son demasiado regulares para una persona.' },
    replay: {
      title: 'Eso ya se había escrito',
      text: 'Los tiempos repiten una grabación anterior. Nadie los repite con exactitud.',
    },
    recognized: 'Era usted',
    unsure: 'No es seguro',
    unsureHelp: '{confidence} Una página de inicio de sesión pediría ahora un código de seguridad.',
    rejected: 'Era otra persona',
    spokeFor: 'a su favor, peso {weight}',
    spokeAgainst: 'en su contra, peso {weight}',
  },
  needsScript:
    'Esta página necesita JavaScript y un navegador de los últimos años. Por favor, actívelo o abra el enlace en otro navegador.',
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
  computer: {
    title: 'Por favor, use un ordenador',
    text: 'La forma de teclear solo se reconoce en el teclado de un ordenador, no en un teléfono ni en una tableta, ni siquiera con un teclado conectado. Por favor, abra esta página en un ordenador. Lo que ya terminó se conserva.',
  },
  unavailable: {
    title: 'Un momento, por favor',
    text: 'El servicio no está disponible ahora mismo. No se ha perdido nada: inténtelo de nuevo en un minuto.',
  },
  language: 'Idioma',
}
