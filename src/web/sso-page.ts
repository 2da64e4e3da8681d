import { PASSWORD_DIGITS } from '../domain/one-time-password.js'
import type { Language } from '../domain/typing-words.js'
import type { SsoPageData } from './browser/page-data.js'
import { type Html, html, nothing } from './html.js'
import { needsScript } from './link-page.js'
import { mark, pageOf } from './page.js'
import { SSO_TEXTS, type SsoTexts, TEXTS } from './texts.js'

/** The folder of the modules, relative to every page of the bridge. */
const BASE = '/assets/'

/** The content of a page of a sign-in. */
export interface SsoView {
  readonly language: Language
  /** Name of the application that the person signs in to. */
  readonly application: string
  readonly heading: keyof SsoTexts['steps']
  /** Code and sentence of a situation; null if there is none. `code` is null for a situation without a number. */
  readonly note: { readonly code: number | null; readonly text: string } | null
  readonly body: SsoBody
  /** Offers to go back to the application without a sign-in. */
  readonly mayCancel: boolean
}

export type SsoBody =
  | { readonly kind: 'name' }
  | {
      readonly kind: 'typing'
      readonly words: readonly string[]
      readonly wordsLanguage: string
      /** Patterns held and required, while enrolling. */
      readonly progress: { readonly done: number; readonly target: number } | null
      /** The reason why the same words are asked for again; null if they are not. */
      readonly again: string | null
      readonly offersPassword: boolean
      /** Number of digits of the security code that may be entered instead; null if none may. */
      readonly codeLength: number | null
    }
  | { readonly kind: 'code'; readonly length: number }
  /** `sentTo` is null while no password was sent. The form returns `purpose`. */
  | { readonly kind: 'password'; readonly sentTo: string | null; readonly purpose: string; readonly maySend: boolean }
  | { readonly kind: 'retry' }
  | { readonly kind: 'reset' }
  | { readonly kind: 'onward'; readonly to: string }
  | { readonly kind: 'none' }

/** A page of a sign-in: a form without script, apart from the typing field. */
export function ssoPage({ language, application, heading, note, body, mayCancel }: SsoView): string {
  const texts = SSO_TEXTS[language]
  const { title, text } = texts.steps[heading]
  const data: SsoPageData = {
    onward: body.kind === 'onward' ? body.to : null,
    again: body.kind === 'typing' ? body.again : null,
  }
  return pageOf({
    language,
    title: `${title} · ${application}`,
    base: BASE,
    module: 'sso.js',
    data,
    languages: body.kind !== 'onward',
    body: html`<header id="intro">${mark}<p class="who" translate="no">${application}</p><h1 tabindex="-1">${title}</h1><p class="lead">${text}</p></header>
${note === null ? nothing : html`<p class="notice" role="status">${note.text}${note.code === null ? nothing : html` <small translate="no">(${note.code})</small>`}</p>`}
${body.kind === 'typing' ? needsScript(TEXTS[language]) : nothing}
<section id="work">${bodyOf(body, texts, TEXTS[language].typing.next)}</section>
${mayCancel ? form(html`<button name="action" value="cancel" class="quiet">${texts.cancel}</button>`) : nothing}`,
  })
}

const form = (content: Html): Html => html`<form method="post" class="choice">${content}</form>`

function bodyOf(body: SsoBody, texts: SsoTexts, next: string): Html {
  switch (body.kind) {
    case 'name':
      return form(html`<label for="name">${texts.name}</label>
<input id="name" name="name" required autocomplete="username" autocapitalize="none" spellcheck="false" maxlength="256" autofocus>
<button name="action" value="name">${next}</button>`)
    case 'typing':
      return html`<form method="post"><input type="hidden" name="action" value="pattern">
<keystride-typing id="typing" name="pattern" words="${body.words.join(' ')}" words-lang="${body.wordsLanguage}" required${
        body.progress === null ? nothing : html` done="${body.progress.done}" target="${body.progress.target}"`
      }><button type="submit">${next}</button></keystride-typing></form>
${body.codeLength === null ? nothing : html`<details><summary>${texts.code}</summary>${codeForm(body.codeLength, texts, next)}</details>`}
${body.offersPassword ? sendForm('step-up', texts.send, 'quiet') : nothing}`
    case 'code':
      return codeForm(body.length, texts, next)
    case 'password':
      return html`${body.sentTo === null ? nothing : passwordForm(body.sentTo, texts, next)}
${body.maySend ? sendForm(body.purpose, body.sentTo === null ? texts.send : texts.sendAgain, body.sentTo === null ? '' : 'quiet') : nothing}`
    case 'retry':
      return form(html`<button name="action" value="begin">${texts.retry}</button>`)
    case 'reset':
      return html`<p class="lead">${texts.reset}</p>${sendForm('reset', texts.send, 'quiet')}`
    case 'onward':
      return html`<p><a id="onward" class="button" href="${body.to}">${next}</a></p>`
    case 'none':
      return nothing
  }
}

const codeForm = (length: number, texts: SsoTexts, next: string): Html =>
  form(html`<label for="code">${texts.code}</label>
<input id="code" name="code" required inputmode="numeric" autocomplete="off" ${digits(length)} autofocus>
<button name="action" value="code">${next}</button>`)

const passwordForm = (sentTo: string, texts: SsoTexts, next: string): Html =>
  form(html`<p>${withValue(texts.sentTo, '{address}', sentTo)}</p><label for="password">${texts.password}</label>
<input id="password" name="password" required inputmode="numeric" autocomplete="one-time-code" ${digits(PASSWORD_DIGITS)} autofocus>
<button name="action" value="password">${next}</button>`)

/** Attributes of a field for `count` digits of any script. A pasted code may have other characters in between, so it is not cut off. */
const digits = (count: number): Html => html`maxlength="64" pattern="(\\P{Nd}*\\p{Nd}){${count}}\\P{Nd}*"`

/** A text with a value in place of its placeholder, which a browser that translates the page leaves as it is. */
const withValue = (text: string, placeholder: string, value: string): readonly Html[] =>
  text
    .split(placeholder)
    .map((part, i) => (i === 0 ? html`${part}` : html`<span translate="no">${value}</span>${part}`))

const sendForm = (purpose: string, text: string, look: string): Html =>
  form(
    html`<input type="hidden" name="purpose" value="${purpose}"><button name="action" value="send" class="${look}">${text}</button>`,
  )

/** A page with only a message: an error of the provider, or the end of a session. */
export function ssoSaying(
  language: Language,
  { title, text, detail }: { readonly title: string; readonly text: string; readonly detail?: string },
): string {
  return pageOf({
    language,
    title,
    base: BASE,
    languages: false,
    body: html`${mark}<h1>${title}</h1><p class="lead">${text}</p>${detail === undefined ? nothing : html`<p class="soft" translate="no">${detail}</p>`}`,
  })
}

/** The question before a sign-out. `form` is the provider's markup; the button belongs to it. */
export function ssoSignOut(language: Language, providerForm: string): string {
  const { signOut } = SSO_TEXTS[language]
  const markup: Html = { markup: providerForm }
  return pageOf({
    language,
    title: signOut.title,
    base: BASE,
    languages: false,
    body: html`${mark}<h1>${signOut.title}</h1><p class="lead">${signOut.text}</p>${markup}
<p><button type="submit" form="op.logoutForm" name="logout" value="yes">${signOut.yes}</button></p>`,
  })
}
