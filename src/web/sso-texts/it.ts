import type { SsoTexts } from './texts.js'

export const it: SsoTexts = {
  steps: {
    name: { title: 'Accesso', text: 'Inserisca il nome utente. Poi digiterà alcune parole.' },
    type: { title: 'Digiti per accedere', text: 'Digiti le parole qui sotto, come fa sempre.' },
    enroll: {
      title: 'Impariamo come digita',
      text: 'Digiti alcune parole più volte, come sempre. Da quel momento la sua digitazione la farà accedere.',
    },
    later: {
      title: 'Per ora è tutto',
      text: 'Il suo profilo di digitazione non è ancora completo. Ciò che ha completato è conservato.',
    },
    'security-code': {
      title: 'Inserisca il codice di sicurezza',
      text: 'Ora non è possibile digitare parole. Il codice sì.',
    },
    password: {
      title: 'Password monouso',
      text: 'Inviamo sei cifre al suo indirizzo e-mail per essere sicuri che sia lei.',
    },
    trouble: { title: 'Un momento, per favore', text: 'Nulla è andato perso. Riprovi.' },
    refused: { title: 'Accesso non riuscito', text: 'Può tornare all’applicazione.' },
    passed: { title: 'Grazie', text: 'Ora passa all’applicazione.' },
  },
  notes: {
    'core-unreachable': 'Il servizio che verifica la digitazione non è raggiungibile.',
    'not-in-directory': 'La directory non conosce questo nome o non è raggiungibile.',
    'not-verified': 'Il suo provider di identità non ha verificato il suo indirizzo. Chieda al suo amministratore.',
    'other-account':
      'Questo nome appartiene a un altro account del suo provider di identità. Chieda al suo amministratore.',
    'invalid-email': 'La directory non ha un suo indirizzo e-mail valido. Chieda al suo amministratore.',
    'wrong-password': 'Non è la password dell’ultimo messaggio, oppure è già stata usata.',
    'invalid-pattern': 'Questa digitazione non è utilizzabile. Digiti le parole ancora una volta.',
    'mail-failed': 'Non è stato possibile inviare il messaggio. Riprovi più tardi.',
    robot: 'Questa digitazione sembrava di una macchina.',
    'not-enrolled': 'Non ha ancora un profilo di digitazione e qui non può crearlo. Chieda al suo amministratore.',
    blocked: 'La sua digitazione non è stata riconosciuta, oppure è bloccato per un po’.',
    strangers:
      'Ci sono stati troppi tentativi errati con il suo nome da altri dispositivi. Dimostri via e-mail che è lei, o usi un browser in cui ha fatto l’accesso di recente.',
    challenged: 'Non siamo certi che sia lei. Digiti ancora o usi una password monouso.',
    'verify-failed': 'Il servizio ha rifiutato la verifica. Chieda al suo amministratore.',
    'password-expired': 'La password è scaduta. Ne chieda una nuova.',
  },
  name: 'Nome utente',
  code: 'Codice di sicurezza',
  password: 'Sei cifre',
  sentTo: 'Inviata a {address}. Le cifre valgono cinque minuti.',
  send: 'Inviami una password monouso',
  sendAgain: 'Inviane una nuova',
  wait: 'Sono state inviate o provate troppe password. La prossima si potrà inviare tra {minutes} min.',
  locked: 'Bloccato per {minutes} min.',
  later: 'Acceda di nuovo {when}, per favore.',
  reset: 'Il suo modo di digitare è cambiato? Dimostri via e-mail che è lei e crei un nuovo profilo.',
  retry: 'Riprova',
  cancel: 'Torna all’applicazione',
  ended: {
    title: 'Questo accesso è terminato',
    text: 'È durato troppo o si è concluso in un’altra finestra. Torni all’applicazione e acceda di nuovo.',
  },
  busy: {
    title: 'Un momento, per favore',
    text: 'Troppi accessi sono aperti allo stesso tempo. Torni all’applicazione e acceda di nuovo fra un minuto.',
  },
  failed: {
    title: 'Questa richiesta non può avere risposta',
    text: 'L’applicazione ha inviato qualcosa che il servizio non accetta. Avvisi i responsabili.',
  },
  signOut: { title: 'Uscire?', text: 'La sessione termina in tutte le applicazioni.', yes: 'Esci' },
  signedOut: { title: 'Sessione terminata', text: 'Può chiudere questa pagina.' },
  mail: {
    subject: 'La sua password monouso per {host}',
    text: 'La sua password monouso: {password}\n\nVale una volta, per {minutes} minuti, su {host}. Se non sta accedendo in questo momento, ignori il messaggio e non dia le cifre a nessuno.',
  },
}
