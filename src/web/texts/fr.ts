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
    count: 'Saisie {n} sur {of}',
    words: 'Mots à taper',
    label: 'Tapez ces mots, séparés par une espace',
    help: 'À votre rythme habituel. Les petites fautes ne comptent pas.',
    next: 'Continuer',
    mistyped: '« {typed} » devrait être « {word} ». Revenez le corriger, s’il vous plaît.',
    wordsLeft: 'Il manque encore des mots.',
    sending: 'Un instant…',
    saved: 'C’est noté. Voici les mots suivants.',
    pasted: 'Un texte collé ne montre pas comment vous tapez. Merci de taper les mots vous-même.',
    filled: 'Votre navigateur ou un assistant a rempli le champ. Merci de taper les mots vous-même.',
    inserted: 'Du texte est arrivé sans frappe. Merci de taper les mots touche par touche.',
    noKeys:
      'Ce clavier ne dit pas quelles touches vous pressez, comme sur la plupart des téléphones. Merci d’ouvrir ce lien sur un ordinateur, avec un clavier latin.',
    phone:
      'Cet appareil semble n’avoir qu’un écran tactile. La plupart des claviers de téléphone n’indiquent pas les touches pressées. Utilisez un ordinateur ou branchez un clavier.',
    coarseClock:
      'Pour vous protéger, ce navigateur brouille son horloge au point de cacher votre frappe. Merci d’ouvrir le lien dans un autre navigateur.',
    paused: 'Vous avez fait une pause, rien de grave. Merci de recommencer ces mots.',
    again: 'Cela n’a pas fonctionné. Merci de retaper ces mots.',
    machine: 'C’était trop régulier pour une personne. Retapez, tout naturellement.',
    seenBefore: 'C’était exactement comme une frappe précédente. Merci de retaper ces mots.',
    wait: 'Cela fait quelques essais de trop. Merci de rouvrir ce lien dans {minutes} min.',
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
  recorded: {
    title: 'Qu’est-ce qui est enregistré ?',
    items: [
      'Le moment où chaque touche descend et remonte pendant que vous tapez ces mots, et laquelle c’est.',
      'Le type de votre appareil et de votre navigateur, comme sa langue et la taille de l’écran.',
      'Rien d’autre : aucune autre page, aucun autre champ, ni caméra, ni cookies.',
      'Tout est chiffré et sert à vous reconnaître quand vous vous connectez.',
    ],
  },
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
  unavailable: {
    title: 'Un instant, s’il vous plaît',
    text: 'Le service est injoignable pour le moment. Rien n’est perdu : réessayez dans une minute.',
  },
  language: 'Langue',
}
