import { html } from './html.js'
import { needsScript, recorded, typingForm } from './link-page.js'
import { mark, pageOf } from './page.js'
import { TEXTS } from './texts.js'

/** The page on which somebody tries the product on themselves. For those who set it up: in English. */
export function tryPage(): string {
  const texts = TEXTS.en
  return pageOf({
    language: 'en',
    title: 'Try Keystride on yourself',
    base: '',
    module: 'try.js',
    data: { typing: texts.typing },
    languages: false,
    body: html`<header id="intro">${mark}<h1>Try it on yourself</h1>
<p class="lead">Type a few words five times, the way you always do. Then see whether your typing is known again, which keys gave you
away, and what happens when a friend takes your place.</p></header>
${needsScript(texts)}
<section id="result" hidden aria-labelledby="verdict"><h2 id="verdict" tabindex="-1"></h2><p id="said" class="lead"></p>
<div id="meter"><span id="level"></span><span id="threshold"></span></div>
<p id="scale"><span>0 %, somebody else</span><span>you, 100 %</span></p>
<div id="pairs"><h3>What spoke for you, key pair by key pair</h3><p class="soft">Each bar says how much likelier these times are from
you than from people in general. To the right: for you.</p>
<table><thead><tr><th scope="col">Keys</th><th scope="col">Against you · for you</th><th scope="col">Usual</th>
<th scope="col">Here</th></tr></thead><tbody id="rows"></tbody></table>
<p class="soft">The confidence is not the sum of the bars: the model weighs hundreds of things, these among them.</p></div>
<p id="turns"><button type="button" id="me">Type again yourself</button>
<button type="button" id="friend" class="quiet">Let a friend try</button></p></section>
<section id="work" hidden><p id="count" aria-live="polite"></p><ol id="steps" aria-hidden="true"></ol>
${typingForm(texts.typing)}</section>
<section id="stopped" hidden><p id="why" tabindex="-1"></p><button type="button" id="retry">${texts.typing.retry}</button></section>
<section id="history" hidden><h3>So far</h3><ol id="tries"></ol></section>
${recorded(texts)}
<p><button type="button" id="forget" class="quiet" hidden>Forget me</button></p>`,
  })
}
