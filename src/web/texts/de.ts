import type { Texts } from './texts.js'

export const de: Texts = {
  kinds: {
    'create-profile': {
      title: 'So tippen nur Sie',
      text: 'Ihr Tippen hat einen eigenen Rhythmus. Tippen Sie etwa fünfmal ein paar Wörter, so wie immer, und wir erkennen Sie daran wieder.',
    },
    'reset-profile': {
      title: 'Ihr Tippprofil erneuern',
      text: 'Tippen Sie ein paar Wörter, so wie immer. Ihr bisheriges Profil gilt weiter, bis das neue vollständig ist.',
    },
    'complete-profile': {
      title: 'Ihr Tippprofil vervollständigen',
      text: 'Tippen Sie noch ein paar Wörter, so wie immer: dann werden Sie sicherer erkannt.',
    },
  },
  typing: {
    next: 'Weiter',
    saved: 'Danke. Hier sind die nächsten Wörter.',
    wait: 'Zurzeit können keine weiteren Wörter angenommen werden. Bitte öffnen Sie diese Seite {when} wieder.',
    later:
      'Danke, das war vorerst alles: Dieses Profil wird an mehreren Tagen getippt. Bitte öffnen Sie den Link {when} wieder.',
    trouble: 'Der Dienst war nicht zu erreichen. Was Sie abgeschlossen haben, bleibt erhalten.',
    retry: 'Noch einmal versuchen',
  },
  trying: {
    pageTitle: 'Keystride selbst ausprobieren',
    title: 'Probieren Sie es selbst aus',
    lead: 'Tippen Sie fünfmal ein paar Wörter, so wie immer. Sehen Sie dann, ob der Dienst Ihr Tippen erkennt, welche Tasten den Ausschlag gaben und was geschieht, wenn jemand anders für Sie tippt.',
    somebodyElse: '0 %, jemand anders',
    you: 'Sie, 100 %',
    pairs: 'Die Anhaltspunkte, Tastenpaar für Tastenpaar',
    pairsHelp:
      'Jeder Balken zeigt, wie viel wahrscheinlicher diese Zeiten bei Ihnen sind als bei anderen Menschen. Ein Balken nach rechts spricht für Sie.',
    keys: 'Tasten',
    weight: 'Gegen Sie · für Sie',
    usual: 'Üblich',
    here: 'Hier',
    notTheSum:
      'Die Konfidenz ist nicht die Summe der Balken. Das Modell gewichtet mehrere hundert Merkmale, darunter diese.',
    again: 'Noch einmal selbst tippen',
    friend: 'Jemand anderen tippen lassen',
    history: 'Bisher',
    forget: 'Meine Daten löschen',
    complete: 'Ihr Profil ist vollständig. Tippen Sie noch einmal, um sich anzumelden.',
    yourTurn: 'Sie sind dran: Anmeldung',
    friendsTurn: 'Jemand anders ist dran: dieselben Wörter, im eigenen Tempo',
    youTried: 'Sie: {result}',
    friendTried: 'Jemand anders: {result}',
    notScored: 'nicht bewertet',
    confidence: 'Konfidenz {percent} %; 50 % genügen für die Anmeldung.',
    locked: {
      title: 'Eine Weile gesperrt',
      text: 'Zu viele Versuche sind fehlgeschlagen. Der nächste wird in {seconds} s bewertet.',
    },
    machine: { title: 'Das hat eine Maschine getippt', text: 'Die Zeiten sind zu gleichmäßig für einen Menschen.' },
    replay: {
      title: 'Das wurde schon einmal getippt',
      text: 'Die Zeiten wiederholen eine frühere Aufzeichnung. Kein Mensch wiederholt sie genau.',
    },
    recognized: 'Das waren Sie',
    unsure: 'Nicht sicher',
    unsureHelp: '{confidence} Eine Anmeldeseite würde jetzt nach einem Sicherheitscode fragen.',
    rejected: 'Das war jemand anders',
    spokeFor: 'für Sie, Gewicht {weight}',
    spokeAgainst: 'gegen Sie, Gewicht {weight}',
  },
  needsScript:
    'Diese Seite braucht JavaScript und einen Browser der letzten Jahre. Bitte schalten Sie es ein oder öffnen Sie den Link in einem anderen Browser.',
  done: {
    title: 'Danke. Alles erledigt.',
    text: 'Von nun an spricht Ihr Tippen für Sie.',
    close: 'Sie können diese Seite schließen.',
    leaving: 'Sie werden zu {host} weitergeleitet.',
    onward: 'Weiter zu {host}',
  },
  nothingLeft: {
    title: 'Es ist nichts mehr zu tun',
    text: 'Ihr Tippprofil ist bereits vollständig. Sie können diese Seite schließen.',
  },
  gone: {
    title: 'Dieser Link gilt nicht (mehr)',
    text: 'Vielleicht hat er seinen Zweck erfüllt, wurde durch einen neueren ersetzt, zurückgezogen oder ist abgelaufen. Wenn Sie gerade fertig geworden sind, ist alles gut. Sonst bitten Sie den Absender um einen neuen.',
  },
  computer: {
    title: 'Bitte nehmen Sie einen Computer',
    text: 'Tippen wird nur an der Tastatur eines Computers erkannt, nicht auf einem Telefon oder Tablet, auch nicht mit angeschlossener Tastatur. Bitte öffnen Sie diese Seite auf einem Computer. Was Sie abgeschlossen haben, bleibt erhalten.',
  },
  unavailable: {
    title: 'Einen Moment, bitte',
    text: 'Der Dienst ist gerade nicht erreichbar. Nichts ist verloren: Bitte versuchen Sie es in einer Minute noch einmal.',
  },
  language: 'Sprache',
}
