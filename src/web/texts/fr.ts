import type { Texts } from './texts.js'

export const fr: Texts = {
  kinds: {
    'create-profile': {
      title: 'Votre façon de taper',
      text: 'Votre frappe a un rythme bien à elle. Tapez quelques mots, environ cinq fois, comme vous le faites toujours : c’est à cela que nous vous reconnaîtrons.',
    },
    'reset-profile': {
      title: 'Renouveler votre profil de frappe',
      text: 'Tapez quelques mots, comme vous le faites toujours. Votre profil actuel reste valable jusqu’à ce que le nouveau soit complet.',
    },
    'complete-profile': {
      title: 'Compléter votre profil de frappe',
      text: 'Tapez encore quelques mots, comme vous le faites toujours : vous serez reconnu plus sûrement.',
    },
  },
  typing: {
    next: 'Continuer',
    saved: 'C’est noté. Voici les mots suivants.',
    wait: 'Aucune autre saisie n’est possible pour l’instant. Merci de rouvrir cette page {when}.',
    later:
      'Merci, c’était la dernière saisie pour l’instant : ce profil se tape sur plusieurs jours. Merci de rouvrir ce lien {when}.',
    trouble: 'Le service est injoignable. Ce que vous avez terminé est conservé.',
    retry: 'Réessayer',
  },
  trying: {
    pageTitle: 'Essayez Keystride sur vous-même',
    title: 'Essayez-le sur vous-même',
    lead: 'Tapez quelques mots cinq fois, comme d’habitude. Voyez ensuite si le service reconnaît votre frappe, quelles touches ont compté, et ce qui se passe quand un ami prend votre place.',
    somebodyElse: '0 %, quelqu’un d’autre',
    you: 'vous, 100 %',
    pairs: 'Les indices, paire de touches par paire de touches',
    pairsHelp:
      'Chaque barre montre combien ces temps sont plus probables chez vous que chez d’autres personnes. Une barre vers la droite parle pour vous.',
    keys: 'Touches',
    weight: 'Contre vous · pour vous',
    usual: 'Habituel',
    here: 'Ici',
    notTheSum:
      'La confiance n’est pas la somme des barres. Le modèle pèse plusieurs centaines de mesures, dont celles-ci.',
    again: 'Taper encore vous-même',
    friend: 'Laisser un ami essayer',
    history: 'Jusqu’ici',
    forget: 'Supprimer mes données',
    complete: 'Votre profil est complet. Tapez encore une fois pour vous connecter.',
    yourTurn: 'À vous : connectez-vous',
    friendsTurn: 'Au tour de votre ami : les mêmes mots, à son rythme',
    youTried: 'Vous : {result}',
    friendTried: 'Ami : {result}',
    notScored: 'non évalué',
    confidence: 'Confiance {percent} % ; 50 % suffisent pour se connecter.',
    locked: {
      title: 'Bloqué un moment',
      text: 'Trop de tentatives ont échoué. La prochaine sera évaluée dans {seconds} s.',
    },
    machine: { title: 'Une machine a tapé cela', text: 'Les temps sont trop réguliers pour une personne.' },
    replay: {
      title: 'Cela a déjà été tapé',
      text: 'Les temps répètent un enregistrement antérieur. Personne ne les répète exactement.',
    },
    recognized: 'C’était vous',
    unsure: 'Pas certain',
    unsureHelp: '{confidence} Une page de connexion demanderait maintenant un code de sécurité.',
    rejected: 'C’était quelqu’un d’autre',
    spokeFor: 'pour vous, poids {weight}',
    spokeAgainst: 'contre vous, poids {weight}',
  },
  needsScript:
    'Cette page a besoin de JavaScript, dans un navigateur récent. Merci de l’activer ou d’ouvrir le lien dans un autre navigateur.',
  done: {
    title: 'Merci. C’est terminé.',
    text: 'Désormais, votre frappe parle pour vous.',
    close: 'Vous pouvez fermer cette page.',
    leaving: 'Vous allez être dirigé vers {host}.',
    onward: 'Continuer vers {host}',
  },
  nothingLeft: {
    title: 'Plus rien à faire',
    text: 'Votre profil de frappe est déjà complet. Vous pouvez fermer cette page.',
  },
  gone: {
    title: 'Ce lien ne fonctionne pas (ou plus)',
    text: 'Il a peut-être déjà servi, été remplacé par un plus récent, été retiré, ou il a expiré. Si vous venez de terminer, tout va bien. Sinon, demandez-en un nouveau à la personne qui vous l’a envoyé.',
  },
  computer: {
    title: 'Merci d’utiliser un ordinateur',
    text: 'La frappe n’est reconnue que sur le clavier d’un ordinateur, pas sur un téléphone ni une tablette, même avec un clavier branché. Merci d’ouvrir cette page sur un ordinateur. Ce que vous avez terminé est conservé.',
  },
  unavailable: {
    title: 'Un instant, s’il vous plaît',
    text: 'Le service est injoignable pour le moment. Rien n’est perdu : réessayez dans une minute.',
  },
  language: 'Langue',
}
