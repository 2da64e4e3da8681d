import type { SsoTexts } from './texts.js'

export const de: SsoTexts = {
  steps: {
    name: { title: 'Anmelden', text: 'Geben Sie Ihren Benutzernamen ein. Danach tippen Sie ein paar Wörter.' },
    type: { title: 'Durch Tippen anmelden', text: 'Tippen Sie die Wörter so, wie Sie es immer tun.' },
    enroll: {
      title: 'Wir lernen, wie Sie tippen',
      text: 'Tippen Sie mehrmals ein paar Wörter, so wie immer. Danach meldet Ihr Tippen Sie an.',
    },
    later: {
      title: 'Das war vorerst alles',
      text: 'Ihr Tippprofil ist noch nicht vollständig. Was Sie abgeschlossen haben, bleibt erhalten.',
    },
    'security-code': {
      title: 'Sicherheitscode eingeben',
      text: 'Tippen ist gerade nicht möglich, Ihr Code schon.',
    },
    password: {
      title: 'Einmalpasswort',
      text: 'Wir senden sechs Ziffern an Ihre E-Mail-Adresse, um sicherzugehen, dass Sie es sind.',
    },
    trouble: { title: 'Einen Moment bitte', text: 'Es ging nichts verloren. Bitte versuchen Sie es noch einmal.' },
    refused: { title: 'Sie sind nicht angemeldet', text: 'Sie können zur Anwendung zurückkehren.' },
    passed: { title: 'Danke', text: 'Sie werden zur Anwendung gebracht.' },
  },
  notes: {
    'core-unreachable': 'Der Dienst, der Ihr Tippen prüft, ist nicht erreichbar.',
    'not-in-directory': 'Das Verzeichnis kennt diesen Namen nicht oder ist nicht erreichbar.',
    'not-verified': 'Ihr Identitätsanbieter hat Ihre Adresse nicht bestätigt. Bitte fragen Sie Ihre Verwaltung.',
    'other-account':
      'Dieser Name gehört zu einem anderen Konto Ihres Identitätsanbieters. Bitte fragen Sie Ihre Verwaltung.',
    'invalid-email': 'Das Verzeichnis hat keine gültige E-Mail-Adresse von Ihnen. Bitte fragen Sie Ihre Verwaltung.',
    'wrong-password': 'Das ist nicht das Passwort der letzten E-Mail, oder es ist verbraucht.',
    'invalid-pattern': 'Diese Eingabe war nicht verwendbar. Bitte tippen Sie die Wörter noch einmal.',
    'mail-failed': 'Die E-Mail konnte nicht gesendet werden. Bitte versuchen Sie es später.',
    robot: 'Diese Eingabe sah nach einer Maschine aus.',
    'not-enrolled': 'Sie haben noch kein Tippprofil und können hier keines anlegen. Bitte fragen Sie Ihre Verwaltung.',
    blocked: 'Ihr Tippen wurde nicht erkannt, oder Sie sind für eine Weile gesperrt.',
    strangers:
      'Mit Ihrem Namen gab es zu viele falsche Versuche von anderen Geräten. Weisen Sie per E-Mail nach, dass Sie es sind, oder nutzen Sie einen Browser, in dem Sie sich kürzlich angemeldet haben.',
    challenged: 'Wir sind nicht sicher, dass Sie es sind. Tippen Sie noch einmal oder nutzen Sie ein Einmalpasswort.',
    'verify-failed': 'Der Dienst hat die Prüfung abgelehnt. Bitte fragen Sie Ihre Verwaltung.',
    'password-expired': 'Dieses Passwort ist abgelaufen. Bitte lassen Sie sich ein neues senden.',
  },
  name: 'Benutzername',
  code: 'Sicherheitscode',
  password: 'Sechs Ziffern',
  sentTo: 'Gesendet an {address}. Die Ziffern gelten fünf Minuten.',
  send: 'Einmalpasswort senden',
  sendAgain: 'Neues senden',
  wait: 'Es wurden zu viele Passwörter gesendet oder versucht. Das nächste kann in {minutes} min gesendet werden.',
  locked: 'Noch {minutes} min gesperrt.',
  later: 'Bitte melden Sie sich {when} wieder an.',
  reset: 'Hat sich Ihr Tippen verändert? Bestätigen Sie per E-Mail, dass Sie es sind, und legen Sie Ihr Profil neu an.',
  retry: 'Noch einmal versuchen',
  cancel: 'Zurück zur Anwendung',
  ended: {
    title: 'Diese Anmeldung ist beendet',
    text: 'Sie dauerte zu lange oder wurde in einem anderen Fenster abgeschlossen. Bitte melden Sie sich in der Anwendung neu an.',
  },
  busy: {
    title: 'Einen Moment, bitte',
    text: 'Zu viele Anmeldungen sind gleichzeitig offen. Bitte gehen Sie zur Anwendung zurück und melden Sie sich in einer Minute noch einmal an.',
  },
  failed: {
    title: 'Diese Anfrage kann nicht beantwortet werden',
    text: 'Die Anwendung hat etwas gesendet, das der Anmeldedienst nicht annimmt. Bitte sagen Sie es den Betreibern.',
  },
  signOut: { title: 'Abmelden?', text: 'Das beendet Ihre Sitzung in allen Anwendungen.', yes: 'Abmelden' },
  signedOut: { title: 'Sie sind abgemeldet', text: 'Sie können diese Seite schließen.' },
  mail: {
    subject: 'Ihr Einmalpasswort für {host}',
    text: 'Ihr Einmalpasswort: {password}\n\nEs gilt einmal, {minutes} Minuten lang, auf {host}. Wenn Sie sich gerade nicht anmelden, ignorieren Sie diese E-Mail und geben Sie die Ziffern niemandem.',
  },
}
