import type { LinkKind } from '../domain/profile-link.js'
import type { Language } from '../domain/typing-words.js'
import type { LinkPageData, TypingTexts } from './browser/page-data.js'
import { type Html, html } from './html.js'
import { mark, pageOf, sayingPage } from './page.js'
import type { Texts } from './texts/texts.js'
import { TEXTS } from './texts.js'

/** The folder of the modules, relative to `/auth/b/{key}`. */
const BASE = '../'

/** The content of the page of a live link. */
interface LinkView {
  readonly kind: LinkKind
  readonly organizationName: string
  readonly nPatterns: number
  readonly targetPatterns: number
  readonly nothingLeft: boolean
  readonly languageOpen: boolean
  readonly words: { readonly suggestedWords: readonly string[]; readonly suggestedWordsLanguage: Language }
}

/** The page of a live link. It holds all texts; its module shows the words to type. */
export function linkPage(view: LinkView): string {
  const { nPatterns, targetPatterns, organizationName, words } = view
  const language = words.suggestedWordsLanguage
  const texts = TEXTS[language]
  if (view.nothingLeft) return sayingPage(language, BASE, texts.nothingLeft)
  const { title, text } = texts.kinds[view.kind]
  const data: LinkPageData = {
    ...words,
    nPatterns,
    targetPatterns,
    typing: texts.typing,
    leaving: texts.done.leaving,
    onward: texts.done.onward,
  }
  return pageOf({
    language,
    title: `${title} · ${organizationName}`,
    base: BASE,
    module: 'link.js',
    data,
    languages: view.languageOpen,
    body: html`<header id="intro">${mark}<p class="who">${organizationName}</p><h1>${title}</h1><p class="lead">${text}</p></header>
${needsScript(texts)}
${touchNotice(texts.typing)}
<section id="work" hidden><p id="count" aria-live="polite"></p><ol id="steps" aria-hidden="true"></ol>
${typingForm(texts.typing)}
${recorded(texts)}</section>
<section id="stopped" hidden><p id="why" tabindex="-1"></p><button type="button" id="retry">${texts.typing.retry}</button></section>
<section id="done" hidden>${tick}<h1 id="done-title" tabindex="-1">${texts.done.title}</h1>
<p class="lead">${texts.done.text}</p><p id="close">${texts.done.close}</p><p><a id="onward" class="button" hidden></a></p></section>`,
  })
}

/** The page for a key without a live link: identical byte for byte for all such keys, so that it reveals nothing about the key. */
export const gonePage = (language: Language): string => sayingPage(language, BASE, TEXTS[language].gone)

export const unavailablePage = (language: Language): string => sayingPage(language, BASE, TEXTS[language].unavailable)

/** Becomes visible after 1.5 s unless the module removes it: no script, an old browser, a file that did not load. */
export const needsScript = (texts: Texts): Html => html`<p id="needs" class="notice">${texts.needsScript}</p>`

/** `typing.ts` shows it on a device with only a touch screen, before the first key press. */
export const touchNotice = (texts: TypingTexts): Html => html`<p id="touch" class="notice" hidden>${texts.phone}</p>`

/** The form in which words are typed; `typing.ts` uses its ids. */
export const typingForm = (texts: TypingTexts): Html => html`<form id="typing" novalidate>
<ol id="words" aria-label="${texts.words}"></ol>
<label for="typed">${texts.label}</label>
<input id="typed" type="text" autocomplete="off" autocapitalize="off" autocorrect="off" spellcheck="false" enterkeyhint="done"
aria-describedby="help hint">
<p id="help">${texts.help}</p><p id="hint" role="status"></p>
<button type="submit">${texts.next}</button></form>`

export const recorded = ({ recorded }: Texts): Html => html`<details><summary>${recorded.title}</summary><ul>
${recorded.items.map((item) => html`<li>${item}</li>`)}
</ul></details>`

const tick: Html = {
  markup:
    '<svg class="tick" viewBox="0 0 64 64" width="64" height="64" aria-hidden="true" focusable="false">' +
    '<circle cx="32" cy="32" r="29"/><path d="M20 33.5l8.5 8.5L45 25"/></svg>',
}
