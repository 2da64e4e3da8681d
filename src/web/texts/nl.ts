import type { Texts } from './texts.js'

export const nl: Texts = {
  kinds: {
    'create-profile': {
      title: 'Zo typt alleen u',
      text: 'Uw typen heeft een eigen ritme. Typ een keer of vijf een paar woorden, zoals u dat altijd doet, en wij herkennen u eraan.',
    },
    'reset-profile': {
      title: 'Uw typprofiel vernieuwen',
      text: 'Typ een paar woorden, zoals u dat altijd doet. Uw huidige profiel blijft gelden tot het nieuwe volledig is.',
    },
    'complete-profile': {
      title: 'Uw typprofiel aanvullen',
      text: 'Typ nog een paar woorden, zoals u dat altijd doet: dan wordt u met meer zekerheid herkend.',
    },
  },
  typing: {
    next: 'Verder',
    saved: 'Gelukt. Hier zijn de volgende woorden.',
    wait: 'Op dit moment kunnen er geen woorden meer worden aangenomen. Open deze pagina {when} opnieuw.',
    later:
      'Dank u, dat was voorlopig alles: dit profiel wordt op meerdere dagen getypt. Open deze link {when} opnieuw.',
    trouble: 'De dienst was niet bereikbaar. Wat u hebt afgerond, blijft bewaard.',
    retry: 'Opnieuw proberen',
  },
  trying: {
    pageTitle: 'Probeer Keystride zelf uit',
    title: 'Probeer het zelf uit',
    lead: 'Typ vijf keer een paar woorden, zoals u altijd doet. Zie dan of de dienst uw typen herkent, welke toetsen de doorslag gaven en wat er gebeurt als iemand anders uw plaats inneemt.',
    somebodyElse: '0 %, iemand anders',
    you: 'u, 100 %',
    pairs: 'De aanwijzingen, toetsenpaar voor toetsenpaar',
    pairsHelp:
      'Elke balk toont hoeveel waarschijnlijker deze tijden bij u zijn dan bij andere mensen. Een balk naar rechts spreekt vóór u.',
    keys: 'Toetsen',
    weight: 'Tegen u · vóór u',
    usual: 'Gewoonlijk',
    here: 'Hier',
    notTheSum: 'De zekerheid is niet de som van de balken. Het model weegt enkele honderden kenmerken, waaronder deze.',
    again: 'Zelf nog eens typen',
    friend: 'Iemand anders laten proberen',
    history: 'Tot nu toe',
    forget: 'Mijn gegevens wissen',
    complete: 'Uw profiel is compleet. Typ nog één keer om aan te melden.',
    yourTurn: 'Uw beurt: aanmelden',
    friendsTurn: 'Iemand anders is aan de beurt: dezelfde woorden, in eigen tempo',
    youTried: 'U: {result}',
    friendTried: 'Iemand anders: {result}',
    notScored: 'niet beoordeeld',
    confidence: 'Zekerheid {percent} %; 50 % is genoeg om aan te melden.',
    locked: {
      title: 'Even vergrendeld',
      text: 'Te veel pogingen zijn mislukt. De volgende wordt over {seconds} s beoordeeld.',
    },
    machine: { title: 'Dat heeft een machine getypt', text: 'De tijden zijn te gelijkmatig voor een mens.' },
    replay: {
      title: 'Dat is al eerder getypt',
      text: 'De tijden herhalen een eerdere opname. Geen mens herhaalt ze precies.',
    },
    recognized: 'Dat was u',
    unsure: 'Niet zeker',
    unsureHelp: '{confidence} Een aanmeldpagina zou nu om een beveiligingscode vragen.',
    rejected: 'Dat was iemand anders',
    spokeFor: 'vóór u, gewicht {weight}',
    spokeAgainst: 'tegen u, gewicht {weight}',
  },
  needsScript:
    'Deze pagina heeft JavaScript nodig, in een browser van de laatste jaren. Zet het aan of open de link in een andere browser.',
  done: {
    title: 'Dank u. Alles is klaar.',
    text: 'Vanaf nu spreekt uw typen voor u.',
    close: 'U kunt deze pagina sluiten.',
    leaving: 'U gaat zo naar {host}.',
    onward: 'Verder naar {host}',
  },
  nothingLeft: {
    title: 'Er is niets meer te doen',
    text: 'Uw typprofiel is al volledig. U kunt deze pagina sluiten.',
  },
  gone: {
    title: 'Deze link werkt niet (meer)',
    text: 'Misschien heeft hij zijn werk gedaan, is hij vervangen door een nieuwere, ingetrokken of verlopen. Als u net klaar bent, is alles in orde. Vraag anders een nieuwe aan wie hem stuurde.',
  },
  computer: {
    title: 'Gebruik een computer, alstublieft',
    text: 'Typen wordt alleen herkend op het toetsenbord van een computer, niet op een telefoon of tablet, ook niet met een aangesloten toetsenbord. Open deze pagina op een computer. Wat u hebt afgerond, blijft bewaard.',
  },
  unavailable: {
    title: 'Een ogenblik, alstublieft',
    text: 'De dienst is op dit moment niet bereikbaar. Er is niets verloren: probeer het over een minuut opnieuw.',
  },
  language: 'Taal',
}
