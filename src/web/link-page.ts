import type { LinkKind } from '../domain/profile-link.js'
import type { Language } from '../domain/typing-words.js'
import type { LinkPageData } from './browser/page-data.js'
import { type Html, html } from './html.js'
import { mark, pageOf, sayingPage } from './page.js'
import { TEXTS, type Texts } from './texts.js'

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
  /** Patterns of the visitor's device are refused. */
  readonly deviceRefused: boolean
}

/** The page of a live link. It holds all texts; its module shows the words to type. */
export function linkPage(view: LinkView): string {
  const { nPatterns, targetPatterns, organizationName, words } = view
  const language = words.suggestedWordsLanguage
  const texts = TEXTS[language]
  if (view.nothingLeft) return sayingPage(language, BASE, texts.nothingLeft, view.languageOpen)
  if (view.deviceRefused) return sayingPage(language, BASE, texts.computer, view.languageOpen)
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
    body: html`<header id="intro">${mark}<p class="who" translate="no">${organizationName}</p><h1>${title}</h1><p class="lead">${text}</p></header>
${needsScript(texts)}
<section id="work" hidden>${typingForm(texts.typing.next)}</section>
<section id="stopped" hidden><p id="why" tabindex="-1"></p><button type="button" id="retry">${texts.typing.retry}</button></section>
<section id="done" hidden>${tick}<h1 id="done-title" tabindex="-1">${texts.done.title}</h1>
<p class="lead">${texts.done.text}</p><p id="close">${texts.done.close}</p><p><a id="onward" class="button" hidden></a></p></section>`,
  })
}

/** The page for a key without a live link. It is identical for all such keys, byte for byte, so that it reveals nothing about the key. */
export const gonePage = (language: Language): string => sayingPage(language, BASE, TEXTS[language].gone)

export const unavailablePage = (language: Language): string => sayingPage(language, BASE, TEXTS[language].unavailable)

/** A notice that appears after 1.5 s unless the module removes it, as without JavaScript, in an old browser or after a failed load. */
export const needsScript = (texts: Texts): Html => html`<p id="needs" class="notice">${texts.needsScript}</p>`

/** The form in which words are typed; the page's module uses its ids. */
export const typingForm = (next: string): Html => html`<form id="form">
<keystride-typing id="typing" required><button type="submit">${next}</button></keystride-typing></form>`

const tick: Html = {
  markup:
    '<svg class="tick" viewBox="0 0 64 64" width="64" height="64" aria-hidden="true" focusable="false">' +
    '<circle cx="32" cy="32" r="29"/><path d="M20 33.5l8.5 8.5L45 25"/></svg>',
}
