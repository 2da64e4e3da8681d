import type { SsoTexts } from './texts.js'

export const es: SsoTexts = {
  steps: {
    name: { title: 'Iniciar sesión', text: 'Escriba su nombre de usuario. Después escribirá unas palabras.' },
    type: { title: 'Escriba para iniciar sesión', text: 'Escriba las palabras, como lo hace siempre.' },
    enroll: {
      title: 'Aprendamos cómo escribe',
      text: 'Escriba unas palabras varias veces, como siempre. A partir de entonces su forma de escribir le identificará.',
    },
    later: {
      title: 'Eso es todo por ahora',
      text: 'Su perfil de escritura aún no está completo. Lo que ya terminó se conserva.',
    },
    'security-code': {
      title: 'Introduzca su código de seguridad',
      text: 'Ahora no es posible escribir palabras. Su código sí sirve.',
    },
    password: {
      title: 'Contraseña de un solo uso',
      text: 'Enviamos seis cifras a su dirección de correo para asegurarnos de que es usted.',
    },
    trouble: { title: 'Un momento, por favor', text: 'No se ha perdido nada. Inténtelo de nuevo.' },
    refused: { title: 'No ha iniciado sesión', text: 'Puede volver a la aplicación.' },
    passed: { title: 'Gracias', text: 'Ahora pasa a la aplicación.' },
  },
  notes: {
    'core-unreachable': 'No se puede acceder al servicio que comprueba su forma de escribir.',
    'not-in-directory': 'El directorio no conoce este nombre o no está disponible.',
    'not-verified': 'Su proveedor de identidad no ha verificado su dirección. Consulte a su administrador.',
    'other-account': 'Este nombre pertenece a otra cuenta de su proveedor de identidad. Consulte a su administrador.',
    'invalid-email': 'El directorio no tiene una dirección de correo válida para usted. Consulte a su administrador.',
    'wrong-password': 'No es la contraseña del último correo, o ya se ha gastado.',
    'invalid-pattern': 'Esa escritura no se puede usar. Escriba las palabras otra vez.',
    'mail-failed': 'No se pudo enviar el correo. Inténtelo más tarde.',
    robot: 'Esa escritura parecía la de una máquina.',
    'not-enrolled': 'Aún no tiene un perfil de escritura y aquí no puede crearlo. Consulte a su administrador.',
    blocked: 'No se reconoció su forma de escribir, o está bloqueado por un tiempo.',
    strangers:
      'Hubo demasiados intentos fallidos con su nombre desde otros dispositivos. Demuestre por correo electrónico que es usted, o use un navegador en el que haya iniciado sesión hace poco.',
    challenged: 'No estamos seguros de que sea usted. Escriba otra vez o use una contraseña de un solo uso.',
    'verify-failed': 'El servicio rechazó la comprobación. Consulte a su administrador.',
    'password-expired': 'Esa contraseña ha caducado. Pida una nueva.',
  },
  name: 'Nombre de usuario',
  code: 'Código de seguridad',
  password: 'Seis cifras',
  sentTo: 'Enviada a {address}. Las cifras valen cinco minutos.',
  send: 'Enviarme una contraseña de un solo uso',
  sendAgain: 'Enviar otra',
  wait: 'Se enviaron o probaron demasiadas contraseñas. La próxima se puede enviar en {minutes} min.',
  locked: 'Bloqueado durante {minutes} min.',
  later: 'Por favor, inicie sesión de nuevo {when}.',
  reset: '¿Ha cambiado su forma de escribir? Demuestre por correo que es usted y cree un perfil nuevo.',
  retry: 'Intentar de nuevo',
  cancel: 'Volver a la aplicación',
  ended: {
    title: 'Este inicio de sesión ha terminado',
    text: 'Tardó demasiado o se completó en otra ventana. Vuelva a la aplicación e inicie sesión de nuevo.',
  },
  busy: {
    title: 'Un momento, por favor',
    text: 'Hay demasiados inicios de sesión abiertos a la vez. Vuelva a la aplicación e inicie sesión de nuevo en un minuto.',
  },
  failed: {
    title: 'No se puede responder a esta petición',
    text: 'La aplicación envió algo que el servicio no acepta. Avise a sus responsables.',
  },
  signOut: {
    title: '¿Cerrar la sesión?',
    text: 'Esto termina su sesión en todas las aplicaciones.',
    yes: 'Cerrar la sesión',
  },
  signedOut: { title: 'Ha cerrado la sesión', text: 'Puede cerrar esta página.' },
  mail: {
    subject: 'Su contraseña de un solo uso para {host}',
    text: 'Su contraseña de un solo uso: {password}\n\nSirve una vez, durante {minutes} minutos, en {host}. Si ahora no está iniciando sesión, ignore este correo y no dé las cifras a nadie.',
  },
}
