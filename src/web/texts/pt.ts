import type { Texts } from './texts.js'

export const pt: Texts = {
  kinds: {
    'create-profile': {
      title: 'A sua forma de digitar',
      text: 'A sua digitação tem um ritmo próprio. Digite algumas palavras umas cinco vezes, como sempre faz, e será por ele que o reconheceremos.',
    },
    'reset-profile': {
      title: 'Renovar o seu perfil de digitação',
      text: 'Digite algumas palavras, como sempre faz. O perfil atual continua válido até o novo estar completo.',
    },
    'complete-profile': {
      title: 'Completar o seu perfil de digitação',
      text: 'Digite mais algumas palavras, como sempre faz, e o reconhecimento será mais seguro.',
    },
  },
  typing: {
    next: 'Continuar',
    saved: 'Pronto. Aqui estão as próximas palavras.',
    wait: 'De momento não é possível aceitar mais palavras. Por favor, abra esta página de novo {when}.',
    later:
      'Obrigado, por agora é tudo: este perfil é escrito em vários dias. Por favor, abra este link de novo {when}.',
    trouble: 'Não foi possível contactar o serviço. O que já concluiu fica guardado.',
    retry: 'Tentar de novo',
  },
  trying: {
    pageTitle: 'Experimente o Keystride',
    title: 'Experimente em si',
    lead: 'Escreva algumas palavras cinco vezes, como sempre. Veja depois se o serviço reconhece a sua forma de escrever, que teclas foram decisivas e o que acontece quando outra pessoa toma o seu lugar.',
    somebodyElse: '0 %, outra pessoa',
    you: 'você, 100 %',
    pairs: 'Os indícios, par de teclas a par de teclas',
    pairsHelp:
      'Cada barra mostra quanto mais prováveis são estes tempos em si do que noutras pessoas. Uma barra para a direita fala a seu favor.',
    keys: 'Teclas',
    weight: 'Contra si · a seu favor',
    usual: 'Habitual',
    here: 'Aqui',
    notTheSum: 'A confiança não é a soma das barras. O modelo pondera várias centenas de medidas, entre elas estas.',
    again: 'Escrever outra vez',
    friend: 'Deixar outra pessoa tentar',
    history: 'Até agora',
    forget: 'Apagar os meus dados',
    complete: 'O seu perfil está completo. Escreva mais uma vez para iniciar sessão.',
    yourTurn: 'A sua vez: inicie sessão',
    friendsTurn: 'A vez de outra pessoa: as mesmas palavras, ao seu ritmo',
    youTried: 'Você: {result}',
    friendTried: 'Outra pessoa: {result}',
    notScored: 'não avaliado',
    confidence: 'Confiança {percent} %; 50 % bastam para iniciar sessão.',
    locked: {
      title: 'Bloqueado por algum tempo',
      text: 'Falharam demasiadas tentativas. A próxima será avaliada dentro de {seconds} s.',
    },
    machine: { title: 'Foi uma máquina que escreveu isto', text: 'Os tempos são demasiado regulares para uma pessoa.' },
    replay: {
      title: 'Isto já tinha sido escrito',
      text: 'Os tempos repetem uma gravação anterior. Ninguém os repete exatamente.',
    },
    recognized: 'Era você',
    unsure: 'Não é certo',
    unsureHelp: '{confidence} Uma página de início de sessão pediria agora um código de segurança.',
    rejected: 'Era outra pessoa',
    spokeFor: 'a seu favor, peso {weight}',
    spokeAgainst: 'contra si, peso {weight}',
  },
  needsScript:
    'Esta página precisa de JavaScript e de um navegador dos últimos anos. Por favor, ative-o ou abra o link noutro navegador.',
  done: {
    title: 'Obrigado. Está tudo pronto.',
    text: 'A partir de agora, a sua digitação fala por si.',
    close: 'Pode fechar esta página.',
    leaving: 'Vai ser levado para {host}.',
    onward: 'Continuar para {host}',
  },
  nothingLeft: {
    title: 'Não há mais nada a fazer',
    text: 'O seu perfil de digitação já está completo. Pode fechar esta página.',
  },
  gone: {
    title: 'Este link não funciona (ou já não funciona)',
    text: 'Talvez já tenha cumprido a sua função, sido substituído por um mais recente, sido retirado ou expirado. Se acabou de terminar, está tudo bem. Caso contrário, peça um novo a quem o enviou.',
  },
  computer: {
    title: 'Por favor, use um computador',
    text: 'A forma de digitar só é reconhecida no teclado de um computador, não num telefone ou tablet, mesmo com um teclado ligado. Por favor, abra esta página num computador. O que já concluiu fica guardado.',
  },
  unavailable: {
    title: 'Um momento, por favor',
    text: 'O serviço não está disponível neste momento. Nada se perdeu: tente de novo daqui a um minuto.',
  },
  language: 'Idioma',
}
