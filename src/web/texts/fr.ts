import type { Texts } from '../texts.js'

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
