import type { Texts } from './texts.js'

export const fr: Texts = {
  count: 'Saisie {n} sur {of}',
  words: 'Mots à taper',
  label: 'Tapez ces mots, séparés par une espace',
  help: 'À votre rythme habituel. Corrigez les fautes avec la touche Retour arrière.',
  mistyped:
    '« {typed} » devrait être « {word} ». Effacez-le avec la touche Retour arrière et retapez-le, s’il vous plaît.',
  wordsLeft: 'Il manque encore des mots.',
  sending: 'Un instant…',
  pasted: 'Un texte collé ne montre pas comment vous tapez. Merci de taper les mots vous-même.',
  filled: 'Votre navigateur ou un assistant a rempli le champ. Merci de taper les mots vous-même.',
  inserted: 'Du texte est arrivé sans frappe. Merci de taper les mots touche par touche.',
  composed:
    'Votre clavier compose des caractères à partir de plusieurs touches, comme pour le coréen, le japonais ou le chinois. Merci de passer aux lettres latines, ou de vous connecter autrement, par exemple avec un code.',
  noKeys:
    'Ce clavier ne dit pas quelles touches vous pressez, comme sur la plupart des téléphones. Merci d’utiliser un ordinateur, avec un clavier latin.',
  phone:
    'Cet appareil semble n’avoir qu’un écran tactile. La plupart des claviers de téléphone n’indiquent pas les touches pressées. Merci d’utiliser un ordinateur.',
  coarseClock:
    'Pour vous protéger, ce navigateur brouille son horloge au point de cacher votre frappe. Merci d’utiliser un autre navigateur.',
  paused: 'Vous avez fait une pause, rien de grave. Merci de recommencer ces mots.',
  again: 'Cela n’a pas fonctionné. Merci de retaper ces mots.',
  machine: 'C’était trop régulier pour une personne. Retapez, tout naturellement.',
  seenBefore: 'C’était exactement comme une frappe précédente. Merci de retaper ces mots.',
  recordedTitle: 'Qu’est-ce qui est enregistré ?',
  recorded: [
    'Le moment où chaque touche descend et remonte pendant que vous tapez ces mots, et laquelle c’est.',
    'Le type de votre appareil et de votre navigateur, comme sa langue et la taille de l’écran.',
    'Rien d’autre : aucune autre page, aucun autre champ, ni caméra, ni cookies.',
    'Tout est chiffré et sert à vous reconnaître quand vous vous connectez.',
  ],
}
