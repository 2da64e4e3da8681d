import type { SsoTexts } from './texts.js'

export const pt: SsoTexts = {
  steps: {
    name: { title: 'Entrar', text: 'Introduza o seu nome de utilizador. Depois vai digitar algumas palavras.' },
    type: { title: 'Digite para entrar', text: 'Digite as palavras, como sempre faz.' },
    enroll: {
      title: 'Vamos aprender como digita',
      text: 'Digite algumas palavras várias vezes, como sempre. A partir daí a sua digitação identifica-o.',
    },
    later: {
      title: 'Por agora é tudo',
      text: 'O seu perfil de digitação ainda não está completo. O que já concluiu fica guardado.',
    },
    'security-code': {
      title: 'Introduza o seu código de segurança',
      text: 'De momento não é possível digitar palavras. O seu código funciona.',
    },
    password: {
      title: 'Palavra-passe de utilização única',
      text: 'Enviamos seis algarismos para o seu e-mail, para ter a certeza de que é você.',
    },
    trouble: { title: 'Um momento, por favor', text: 'Nada se perdeu. Tente novamente.' },
    refused: { title: 'Não entrou', text: 'Pode voltar à aplicação.' },
    passed: { title: 'Obrigado', text: 'Está a ser levado para a aplicação.' },
  },
  notes: {
    'core-unreachable': 'O serviço que verifica a sua digitação está inacessível.',
    'not-in-directory': 'O diretório não conhece este nome ou está inacessível.',
    'not-verified': 'O seu fornecedor de identidade não confirmou o seu endereço. Fale com o seu administrador.',
    'other-account': 'Este nome pertence a outra conta do seu fornecedor de identidade. Fale com o seu administrador.',
    'invalid-email': 'O diretório não tem um e-mail válido seu. Fale com o seu administrador.',
    'wrong-password': 'Não é a palavra-passe da última mensagem, ou já foi usada.',
    'invalid-pattern': 'Esta digitação não pode ser usada. Digite as palavras mais uma vez.',
    'mail-failed': 'Não foi possível enviar a mensagem. Tente mais tarde.',
    robot: 'Esta digitação parecia a de uma máquina.',
    'not-enrolled': 'Ainda não tem um perfil de digitação e não pode criá-lo aqui. Fale com o seu administrador.',
    blocked: 'A sua digitação não foi reconhecida, ou está bloqueado por algum tempo.',
    strangers:
      'Houve demasiadas tentativas erradas com o seu nome noutros dispositivos. Prove por e-mail que é você, ou use um navegador em que tenha entrado recentemente.',
    challenged: 'Não temos a certeza de que é você. Digite de novo ou use uma palavra-passe de utilização única.',
    'verify-failed': 'O serviço recusou a verificação. Fale com o seu administrador.',
    'password-expired': 'Essa palavra-passe expirou. Peça uma nova.',
  },
  name: 'Nome de utilizador',
  code: 'Código de segurança',
  password: 'Seis algarismos',
  sentTo: 'Enviada para {address}. Os algarismos valem cinco minutos.',
  send: 'Enviar-me uma palavra-passe de utilização única',
  sendAgain: 'Enviar uma nova',
  wait: 'Foram enviadas ou tentadas demasiadas palavras-passe. A próxima pode ser enviada daqui a {minutes} min.',
  locked: 'Bloqueado por {minutes} min.',
  later: 'Por favor, entre de novo {when}.',
  reset: 'A sua forma de digitar mudou? Prove por e-mail que é você e crie um novo perfil.',
  retry: 'Tentar novamente',
  cancel: 'Voltar à aplicação',
  ended: {
    title: 'Esta entrada terminou',
    text: 'Demorou demasiado ou foi concluída noutra janela. Volte à aplicação e entre de novo.',
  },
  busy: {
    title: 'Um momento, por favor',
    text: 'Há demasiadas entradas abertas ao mesmo tempo. Volte à aplicação e entre de novo daqui a um minuto.',
  },
  failed: {
    title: 'Este pedido não pode ser respondido',
    text: 'A aplicação enviou algo que o serviço não aceita. Avise os responsáveis.',
  },
  signOut: { title: 'Sair?', text: 'Isto termina a sua sessão em todas as aplicações.', yes: 'Sair' },
  signedOut: { title: 'Saiu da sessão', text: 'Pode fechar esta página.' },
  mail: {
    subject: 'A sua palavra-passe de utilização única para {host}',
    text: 'A sua palavra-passe de utilização única: {password}\n\nFunciona uma vez, durante {minutes} minutos, em {host}. Se não está a entrar neste momento, ignore esta mensagem e não dê os algarismos a ninguém.',
  },
}
