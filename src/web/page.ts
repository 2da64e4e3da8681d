import { LANGUAGE_NAMES, LANGUAGES, type Language } from '../domain/typing-words.js'
import { type Html, html, nothing } from './html.js'
import { TEXTS } from './texts.js'

/**
 * A page may load and run only the service's own files, and send only to the service. No site may frame it, and no text
 * becomes markup.
 */
const policy = (formTarget = '') =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    `form-action 'self'${formTarget}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ')

/** The policy of a page with a form whose answer redirects to another origin. */
export const policyWithTarget = (address: string): string => policy(` ${new URL(address).origin}`)

const YEAR_S = 31_536_000

/** Headers of every page. The address of a page may hold a key, so it is neither sent as a referrer nor indexed. */
export const pageHeaders = (publicUrl: string): Record<string, string> => ({
  'content-security-policy': policy(),
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
  /** The folder of the modules, relative to the page's address: empty, or `../`. */
  readonly base: string
  readonly body: Html
  /** The module that the page runs, if any. */
  readonly module?: string
  /** Input of the module. */
  readonly data?: object
  /** Whether the page links to its other languages; true by default. */
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

/** A page with only a heading and a sentence. */
export const sayingPage = (
  language: Language,
  base: string,
  { title, text }: { readonly title: string; readonly text: string },
  languages = true,
): string =>
  pageOf({ language, title, base, languages, body: html`${mark}<h1>${title}</h1><p class="lead">${text}</p>` })

/** The logo, also used as icon: the hold times of four keys. */
export const iconSvg = (colour: string): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32" width="32" height="32" aria-hidden="true" focusable="false">` +
  `<g fill="${colour}"><rect x="3" y="11" width="5" height="10" rx="2.5"/><rect x="10" y="5" width="5" height="22" rx="2.5"/>` +
  `<rect x="17" y="9" width="5" height="14" rx="2.5"/><rect x="24" y="13" width="5" height="6" rx="2.5"/></g></svg>`

export const mark: Html = { markup: `<p class="mark">${iconSvg('currentColor')}</p>` }
