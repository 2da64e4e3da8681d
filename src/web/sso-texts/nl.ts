import type { SsoTexts } from './texts.js'

export const nl: SsoTexts = {
  steps: {
    name: { title: 'Aanmelden', text: 'Voer uw gebruikersnaam in. Daarna typt u een paar woorden.' },
    type: { title: 'Typ om u aan te melden', text: 'Typ de woorden hieronder, zoals u altijd doet.' },
    enroll: {
      title: 'We leren hoe u typt',
      text: 'Typ een paar keer enkele woorden, zoals altijd. Daarna meldt uw manier van typen u aan.',
    },
    later: {
      title: 'Dat was voorlopig alles',
      text: 'Uw typprofiel is nog niet volledig. Wat u hebt afgerond, blijft bewaard.',
    },
    'security-code': { title: 'Voer uw beveiligingscode in', text: 'Typen kan nu niet, uw code wel.' },
    password: {
      title: 'Eenmalig wachtwoord',
      text: 'We sturen zes cijfers naar uw e-mailadres om zeker te weten dat u het bent.',
    },
    trouble: { title: 'Een ogenblik', text: 'Er is niets verloren. Probeer het opnieuw.' },
    refused: { title: 'U bent niet aangemeld', text: 'U kunt terug naar de toepassing.' },
    passed: { title: 'Dank u', text: 'U gaat nu naar de toepassing.' },
  },
  notes: {
    'core-unreachable': 'De dienst die uw typen controleert is niet bereikbaar.',
    'not-in-directory': 'De adreslijst kent deze naam niet of is niet bereikbaar.',
    'not-verified': 'Uw identiteitsprovider heeft uw adres niet bevestigd. Vraag het uw beheerder.',
    'other-account': 'Deze naam hoort bij een ander account van uw identiteitsprovider. Vraag het uw beheerder.',
    'invalid-email': 'De adreslijst heeft geen geldig e-mailadres van u. Vraag het uw beheerder.',
    'wrong-password': 'Dat is niet het wachtwoord van de laatste e-mail, of het is al gebruikt.',
    'invalid-pattern': 'Dit typen was niet bruikbaar. Typ de woorden nog een keer.',
    'mail-failed': 'De e-mail kon niet worden verstuurd. Probeer het later.',
    robot: 'Dit typen leek op dat van een machine.',
    'not-enrolled': 'U hebt nog geen typprofiel en kunt er hier geen maken. Vraag het uw beheerder.',
    blocked: 'Uw manier van typen is niet herkend, of u bent een tijdje geblokkeerd.',
    strangers:
      'Er waren te veel foute pogingen met uw naam vanaf andere apparaten. Bewijs per e-mail dat u het bent, of gebruik een browser waarin u zich onlangs hebt aangemeld.',
    challenged: 'We weten niet zeker dat u het bent. Typ opnieuw of gebruik een eenmalig wachtwoord.',
    'verify-failed': 'De dienst weigerde de controle. Vraag het uw beheerder.',
    'password-expired': 'Dat wachtwoord is verlopen. Laat een nieuw sturen.',
  },
  name: 'Gebruikersnaam',
  code: 'Beveiligingscode',
  password: 'Zes cijfers',
  sentTo: 'Verstuurd naar {address}. De cijfers werken vijf minuten.',
  send: 'Stuur mij een eenmalig wachtwoord',
  sendAgain: 'Stuur een nieuw',
  wait: 'Er zijn te veel wachtwoorden verstuurd of geprobeerd. Het volgende kan over {minutes} min worden verstuurd.',
  locked: 'Nog {minutes} min geblokkeerd.',
  later: 'Meld u {when} opnieuw aan.',
  reset: 'Is uw manier van typen veranderd? Bewijs per e-mail dat u het bent en maak een nieuw profiel.',
  retry: 'Opnieuw proberen',
  cancel: 'Terug naar de toepassing',
  ended: {
    title: 'Deze aanmelding is beëindigd',
    text: 'Ze duurde te lang of is in een ander venster afgerond. Ga terug naar de toepassing en meld u opnieuw aan.',
  },
  busy: {
    title: 'Een ogenblik, alstublieft',
    text: 'Er zijn te veel aanmeldingen tegelijk open. Ga terug naar de toepassing en meld u over een minuut opnieuw aan.',
  },
  failed: {
    title: 'Dit verzoek kan niet worden beantwoord',
    text: 'De toepassing stuurde iets wat de aanmelddienst niet aanneemt. Meld het de beheerders.',
  },
  signOut: { title: 'Afmelden?', text: 'Dit beëindigt uw sessie in alle toepassingen.', yes: 'Afmelden' },
  signedOut: { title: 'U bent afgemeld', text: 'U kunt deze pagina sluiten.' },
  mail: {
    subject: 'Uw eenmalig wachtwoord voor {host}',
    text: 'Uw eenmalig wachtwoord: {password}\n\nHet werkt één keer, {minutes} minuten lang, op {host}. Meldt u zich nu niet aan? Negeer deze e-mail dan en geef de cijfers aan niemand.',
  },
}
