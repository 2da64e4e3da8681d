import type { Language } from '../domain/typing-words.js'
import type { TryPageData } from './browser/page-data.js'
import { html } from './html.js'
import { needsScript, typingForm } from './link-page.js'
import { mark, pageOf, sayingPage } from './page.js'
import { TEXTS } from './texts.js'

/** The page on which an operator tries the product: five patterns, then sign-ins, each with its evidence. */
export function tryPage(language: Language): string {
  const texts = TEXTS[language]
  const { trying, typing } = texts
  const data: TryPageData = { typing, trying }
  return pageOf({
    language,
    title: trying.pageTitle,
    base: '',
    module: 'try.js',
    data,
    body: html`<header id="intro">${mark}<h1>${trying.title}</h1>
<p class="lead">${trying.lead}</p></header>
${needsScript(texts)}
<section id="result" hidden aria-labelledby="verdict"><h2 id="verdict" tabindex="-1"></h2><p id="said" class="lead"></p>
<div id="meter"><span id="level"></span><span id="threshold"></span></div>
<p id="scale"><span>${trying.somebodyElse}</span><span>${trying.you}</span></p>
<div id="pairs"><h3>${trying.pairs}</h3><p class="soft">${trying.pairsHelp}</p>
<table><thead><tr><th scope="col">${trying.keys}</th><th scope="col">${trying.weight}</th><th scope="col">${trying.usual}</th>
<th scope="col">${trying.here}</th></tr></thead><tbody id="rows"></tbody></table>
<p class="soft">${trying.notTheSum}</p></div>
<p id="turns"><button type="button" id="me">${trying.again}</button>
<button type="button" id="friend" class="quiet">${trying.friend}</button></p></section>
<section id="work" hidden><p id="turn" aria-live="polite" hidden></p>${typingForm(typing.next)}</section>
<section id="stopped" hidden><p id="why" tabindex="-1"></p><button type="button" id="retry">${typing.retry}</button></section>
<section id="history" hidden><h3>${trying.history}</h3><ol id="tries"></ol></section>
<p><button type="button" id="forget" class="quiet" hidden>${trying.forget}</button></p>`,
  })
}

/** The page for trying the product on a device whose patterns are refused. */
export const tryOnComputer = (language: Language): string => sayingPage(language, '', TEXTS[language].computer)
