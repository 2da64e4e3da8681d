import type { Texts } from './texts.js'

export const it: Texts = {
  kinds: {
    'create-profile': {
      title: 'Il suo modo di digitare',
      text: 'La sua digitazione ha un ritmo tutto suo. Scriva qualche parola circa cinque volte, come fa sempre, e la riconosceremo da questo.',
    },
    'reset-profile': {
      title: 'Rinnovare il profilo di digitazione',
      text: 'Scriva qualche parola, come fa sempre. Il profilo attuale resta valido finché quello nuovo non è completo.',
    },
    'complete-profile': {
      title: 'Completare il profilo di digitazione',
      text: 'Scriva ancora qualche parola, come fa sempre: il riconoscimento sarà più sicuro.',
    },
  },
  typing: {
    next: 'Continua',
    saved: 'Fatto. Ecco le prossime parole.',
    wait: 'Per ora non si possono accettare altre parole. Riapra questa pagina {when}.',
    later: 'Grazie, per ora è tutto: questo profilo si digita in più giorni. Riapra questo link {when}.',
    trouble: 'Il servizio non è raggiungibile. Ciò che ha completato è conservato.',
    retry: 'Riprova',
  },
  trying: {
    pageTitle: 'Provi Keystride di persona',
    title: 'Lo provi di persona',
    lead: 'Digiti alcune parole cinque volte, come fa sempre. Poi veda se il servizio riconosce il Suo modo di digitare, quali tasti hanno deciso e che cosa succede quando un’altra persona prende il Suo posto.',
    somebodyElse: '0 %, un’altra persona',
    you: 'Lei, 100 %',
    pairs: 'Gli indizi, coppia di tasti per coppia di tasti',
    pairsHelp:
      'Ogni barra mostra quanto questi tempi sono più probabili per Lei che per altre persone. Una barra verso destra parla a Suo favore.',
    keys: 'Tasti',
    weight: 'Contro · a favore',
    usual: 'Abituale',
    here: 'Qui',
    notTheSum: 'La confidenza non è la somma delle barre. Il modello pesa diverse centinaia di misure, tra cui queste.',
    again: 'Digitare di nuovo',
    friend: 'Far provare un’altra persona',
    history: 'Finora',
    forget: 'Cancellare i miei dati',
    complete: 'Il Suo profilo è completo. Digiti ancora una volta per accedere.',
    yourTurn: 'Tocca a Lei: accesso',
    friendsTurn: 'Tocca all’altra persona: le stesse parole, al suo ritmo',
    youTried: 'Lei: {result}',
    friendTried: 'Altra persona: {result}',
    notScored: 'non valutato',
    confidence: 'Confidenza {percent} %; per accedere basta il 50 %.',
    locked: {
      title: 'Bloccato per un po’',
      text: 'Troppi tentativi non riusciti. Il prossimo sarà valutato tra {seconds} s.',
    },
    machine: { title: 'Questo lo ha digitato una macchina', text: 'I tempi sono troppo regolari per una persona.' },
    replay: {
      title: 'Questo è già stato digitato',
      text: 'I tempi ripetono una registrazione precedente. Nessuno li ripete esattamente.',
    },
    recognized: 'Era Lei',
    unsure: 'Non è certo',
    unsureHelp: '{confidence} Una pagina di accesso chiederebbe ora un codice di sicurezza.',
    rejected: 'Era un’altra persona',
    spokeFor: 'a Suo favore, peso {weight}',
    spokeAgainst: 'contro di Lei, peso {weight}',
  },
  needsScript:
    'Questa pagina ha bisogno di JavaScript e di un browser degli ultimi anni. Lo attivi o apra il link in un altro browser.',
  done: {
    title: 'Grazie. Tutto fatto.',
    text: 'Da adesso la sua digitazione parla per lei.',
    close: 'Può chiudere questa pagina.',
    leaving: 'La portiamo su {host}.',
    onward: 'Continua su {host}',
  },
  nothingLeft: {
    title: 'Non resta nulla da fare',
    text: 'Il suo profilo di digitazione è già completo. Può chiudere questa pagina.',
  },
  gone: {
    title: 'Questo link non funziona (o non più)',
    text: 'Forse ha già svolto il suo compito, è stato sostituito da uno più recente, ritirato oppure è scaduto. Se ha appena finito, è tutto a posto. Altrimenti ne chieda uno nuovo a chi l’ha inviato.',
  },
  computer: {
    title: 'Usi un computer, per favore',
    text: 'La digitazione si riconosce solo sulla tastiera di un computer, non su un telefono o un tablet, nemmeno con una tastiera collegata. Apra questa pagina su un computer, per favore. Ciò che ha completato è conservato.',
  },
  unavailable: {
    title: 'Un momento, per favore',
    text: 'Il servizio non è raggiungibile in questo momento. Nulla è perso: riprovi fra un minuto.',
  },
  language: 'Lingua',
}
