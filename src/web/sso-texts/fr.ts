import type { SsoTexts } from './texts.js'

export const fr: SsoTexts = {
  steps: {
    name: { title: 'Se connecter', text: 'Saisissez votre nom d’utilisateur. Ensuite vous taperez quelques mots.' },
    type: { title: 'Tapez pour vous connecter', text: 'Tapez les mots ci-dessous, comme vous le faites toujours.' },
    enroll: {
      title: 'Apprenons votre façon de taper',
      text: 'Tapez quelques mots plusieurs fois, comme toujours. Ensuite votre frappe vous connectera.',
    },
    later: {
      title: 'C’est tout pour l’instant',
      text: 'Votre profil de frappe n’est pas encore complet. Ce que vous avez terminé est conservé.',
    },
    'security-code': {
      title: 'Saisissez votre code de sécurité',
      text: 'La frappe n’est pas possible pour le moment. Votre code l’est.',
    },
    password: {
      title: 'Mot de passe à usage unique',
      text: 'Nous envoyons six chiffres à votre adresse e-mail pour être sûrs que c’est vous.',
    },
    trouble: { title: 'Un instant, s’il vous plaît', text: 'Rien n’est perdu. Veuillez réessayer.' },
    refused: { title: 'Vous n’êtes pas connecté', text: 'Vous pouvez revenir à l’application.' },
    passed: { title: 'Merci', text: 'Vous êtes dirigé vers l’application.' },
  },
  notes: {
    'core-unreachable': 'Le service qui vérifie votre frappe est injoignable.',
    'not-in-directory': 'L’annuaire ne connaît pas ce nom, ou est injoignable.',
    'not-verified':
      'Votre fournisseur d’identité n’a pas vérifié votre adresse. Veuillez demander à votre administrateur.',
    'other-account':
      'Ce nom appartient à un autre compte de votre fournisseur d’identité. Veuillez demander à votre administrateur.',
    'invalid-email': 'L’annuaire n’a pas d’adresse e-mail valide pour vous. Veuillez demander à votre administrateur.',
    'wrong-password': 'Ce n’est pas le mot de passe du dernier message, ou il a déjà servi.',
    'invalid-pattern': 'Cette frappe n’est pas utilisable. Veuillez taper les mots encore une fois.',
    'mail-failed': 'Le message n’a pas pu être envoyé. Veuillez réessayer plus tard.',
    robot: 'Cette frappe ressemblait à celle d’une machine.',
    'not-enrolled':
      'Vous n’avez pas encore de profil de frappe et ne pouvez pas en créer ici. Veuillez demander à votre administrateur.',
    blocked: 'Votre frappe n’a pas été reconnue, ou vous êtes bloqué pour un moment.',
    strangers:
      'Il y a eu trop d’essais erronés avec votre nom depuis d’autres appareils. Prouvez par e-mail que c’est vous, ou utilisez un navigateur où vous vous êtes connecté récemment.',
    challenged:
      'Nous ne sommes pas certains que c’est vous. Tapez encore une fois, ou utilisez un mot de passe à usage unique.',
    'verify-failed': 'Le service a refusé la vérification. Veuillez demander à votre administrateur.',
    'password-expired': 'Ce mot de passe a expiré. Veuillez en demander un nouveau.',
  },
  name: 'Nom d’utilisateur',
  code: 'Code de sécurité',
  password: 'Six chiffres',
  sentTo: 'Envoyé à {address}. Les chiffres sont valables cinq minutes.',
  send: 'M’envoyer un mot de passe à usage unique',
  sendAgain: 'En envoyer un nouveau',
  wait: 'Trop de mots de passe ont été envoyés ou essayés. Le prochain pourra être envoyé dans {minutes} min.',
  locked: 'Bloqué pour {minutes} min.',
  later: 'Merci de vous reconnecter {when}.',
  reset: 'Votre frappe a changé ? Prouvez par e-mail que c’est vous, et créez un nouveau profil.',
  retry: 'Réessayer',
  cancel: 'Retour à l’application',
  ended: {
    title: 'Cette connexion est terminée',
    text: 'Elle a duré trop longtemps, ou s’est terminée dans une autre fenêtre. Veuillez vous reconnecter depuis l’application.',
  },
  busy: {
    title: 'Un instant, s’il vous plaît',
    text: 'Trop de connexions sont ouvertes en même temps. Revenez à l’application et reconnectez-vous dans une minute.',
  },
  failed: {
    title: 'Cette demande ne peut pas aboutir',
    text: 'L’application a envoyé quelque chose que le service de connexion n’accepte pas. Veuillez prévenir ses responsables.',
  },
  signOut: {
    title: 'Se déconnecter ?',
    text: 'Cela met fin à votre session dans toutes les applications.',
    yes: 'Se déconnecter',
  },
  signedOut: { title: 'Vous êtes déconnecté', text: 'Vous pouvez fermer cette page.' },
  mail: {
    subject: 'Votre mot de passe à usage unique pour {host}',
    text: 'Votre mot de passe à usage unique : {password}\n\nIl sert une fois, pendant {minutes} minutes, sur {host}. Si vous ne vous connectez pas en ce moment, ignorez ce message et ne donnez ces chiffres à personne.',
  },
}
