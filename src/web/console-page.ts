import type { Language } from '../domain/typing-words.js'
import { html } from './html.js'

/** Shown after some seconds, unless the script removes it. It stays without JavaScript, in an old browser, and if the script fails. */
const NEEDS: Readonly<Record<Language, string>> = {
  en: 'The console did not start. It needs JavaScript, in a browser of the last few years. Please load the page again, or use another browser.',
  fr: 'La console n’a pas démarré. Elle a besoin de JavaScript, dans un navigateur de ces dernières années. Merci de recharger la page, ou d’utiliser un autre navigateur.',
  de: 'Die Konsole ist nicht gestartet. Sie braucht JavaScript, in einem Browser der letzten Jahre. Bitte laden Sie die Seite neu, oder nehmen Sie einen anderen Browser.',
  es: 'La consola no ha arrancado. Necesita JavaScript, en un navegador de los últimos años. Por favor, cargue la página de nuevo o use otro navegador.',
  it: 'La console non si è avviata. Ha bisogno di JavaScript, in un browser degli ultimi anni. Ricarichi la pagina, oppure usi un altro browser.',
  pt: 'A consola não arrancou. Precisa de JavaScript, num navegador dos últimos anos. Por favor, carregue a página de novo, ou use outro navegador.',
  nl: 'De console is niet gestart. Hij heeft JavaScript nodig, in een browser van de laatste jaren. Laad de pagina opnieuw, of gebruik een andere browser.',
}

/** The document of the operators' console. Its script draws everything. `root` is the path of the service's `/`. */
export const consolePage = (root: string, language: Language): string => {
  const folder = `${root}console/`
  const page = html`<!doctype html>
<html lang="${language}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark"><title>Keystride console</title>
<link rel="icon" type="image/svg+xml" href="${folder}icon.svg"><link rel="stylesheet" href="${folder}console.css">
<script type="module" src="${folder}console.${language}.js"></script></head>
<body><div id="console"><p id="needs">${NEEDS[language]}</p></div></body></html>
`
  return page.markup
}
