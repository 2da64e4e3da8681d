import { LANGUAGE_NAMES, LANGUAGES, type Language } from '../domain/typing-words.js'
import { type Html, html, nothing } from './html.js'
import { TEXTS } from './texts.js'

/**
 * Nothing but the service's own files may load or run, nowhere but to it may anything be sent, nobody may frame the page,
 * and no text becomes markup.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')
const YEAR_S = 31_536_000

/** Headers of every page. The address of a page may hold a key: it is told to nobody and kept nowhere. */
export const pageHeaders = (publicUrl: string): Record<string, string> => ({
  'content-security-policy': POLICY,
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'x-robots-tag': 'noindex',
  ...(publicUrl.startsWith('https:') ? { 'strict-transport-security': `max-age=${YEAR_S}` } : {}),
})

interface Page {
  readonly language: Language
  readonly title: string
  /** How the page's address leads to the folder that the modules are in: empty, or `../`. */
  readonly base: string
  readonly body: Html
  /** The module it runs; absent: none. */
  readonly module?: string
  /** Handed to the module. */
  readonly data?: object
  /** Whether it can be had in the other languages. */
  readonly languages?: boolean
}

/** A whole document. */
export function pageOf({ language, title, base, body, module, data, languages = true }: Page): string {
  const script = module === undefined ? nothing : html`<script type="module" src="${base}${module}"></script>`
  const page = html`<!doctype html>
<html lang="${language}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark"><title>${title}</title>
<link rel="icon" type="image/svg+xml" href="${base}icon.svg"><link rel="stylesheet" href="${base}page.css">
${script}</head>
<body><main id="main" data-page="${JSON.stringify(data ?? {})}">
${body}
</main>${languages ? languageLinks(language) : nothing}</body></html>
`
  return page.markup
}

const languageLinks = (current: Language): Html => html`<nav aria-label="${TEXTS[current].language}"><ul>
${LANGUAGES.map((one) =>
  one === current
    ? html`<li><a lang="${one}" href="?language=${one}" aria-current="true">${LANGUAGE_NAMES[one]}</a></li>`
    : html`<li><a lang="${one}" hreflang="${one}" href="?language=${one}">${LANGUAGE_NAMES[one]}</a></li>`,
)}
</ul></nav>`

/** A page that only says something. */
export const sayingPage = (
  language: Language,
  base: string,
  { title, text }: { readonly title: string; readonly text: string },
): string => pageOf({ language, title, base, body: html`${mark}<h1>${title}</h1><p class="lead">${text}</p>` })

/** Four keys' times: the product's sign, also its icon. */
export const iconSvg = (colour: string): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32" width="32" height="32" aria-hidden="true" focusable="false">` +
  `<g fill="${colour}"><rect x="3" y="11" width="5" height="10" rx="2.5"/><rect x="10" y="5" width="5" height="22" rx="2.5"/>` +
  `<rect x="17" y="9" width="5" height="14" rx="2.5"/><rect x="24" y="13" width="5" height="6" rx="2.5"/></g></svg>`

export const mark: Html = { markup: `<p class="mark">${iconSvg('currentColor')}</p>` }
