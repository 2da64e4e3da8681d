import type { Texts } from './texts.js'

export const pt: Texts = {
  count: 'Amostra {n} de {of}',
  words: 'Palavras para digitar',
  label: 'Digite estas palavras, com um espaço entre elas',
  help: 'No seu ritmo habitual. Corrija os erros com a tecla Backspace.',
  mistyped: '“{typed}” deveria ser “{word}”. Apague com a tecla Backspace e digite de novo, por favor.',
  wordsLeft: 'Ainda faltam palavras.',
  sending: 'Um momento…',
  pasted: 'Texto colado não mostra como digita. Por favor, digite as palavras.',
  filled: 'O navegador ou um assistente preencheu o texto. Por favor, digite as palavras.',
  inserted: 'Chegou texto sem teclas premidas. Por favor, digite as palavras tecla a tecla.',
  composed:
    'O seu teclado compõe caracteres com várias teclas, como para coreano, japonês ou chinês. Por favor, mude para letras latinas, ou inicie sessão de outra forma, por exemplo com um código.',
  noKeys:
    'Este teclado não diz que teclas prime, como na maioria dos telefones. Por favor, use um computador, com teclado latino.',
  phone:
    'Este dispositivo parece ter apenas um ecrã tátil. A maioria dos teclados de telefone não indica as teclas premidas. Por favor, use um computador.',
  coarseClock:
    'Para o proteger, este navegador desfoca o seu relógio a ponto de esconder como digita. Por favor, use outro navegador.',
  paused: 'Fez uma pausa, não há problema. Por favor, recomece estas palavras.',
  again: 'Não resultou. Por favor, digite estas palavras mais uma vez.',
  machine: 'Pareceu demasiado regular para uma pessoa. Digite outra vez, com naturalidade.',
  seenBefore: 'Pareceu exatamente igual a uma digitação anterior. Por favor, digite estas palavras de novo.',
  recordedTitle: 'O que é registado?',
  recorded: [
    'Quando cada tecla desce e sobe enquanto digita estas palavras, e qual é a tecla.',
    'O tipo do seu dispositivo e navegador, como o idioma e o tamanho do ecrã.',
    'Mais nada: nenhuma outra página, nenhum outro campo, nem câmara, nem cookies.',
    'Fica cifrado e serve para o reconhecer quando inicia sessão.',
  ],
}
