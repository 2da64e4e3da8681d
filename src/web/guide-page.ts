import { type Html, html } from './html.js'
import { mark, pageOf } from './page.js'

interface GuideNeeds {
  /** The guide as HTML, which the build renders from docs/integrate.md. */
  readonly guide: string
  /** Replaces the guide's `http://localhost:8080`. */
  readonly publicUrl: string
  /** Pages that this process serves. */
  readonly links: readonly PageLink[]
  /** The reason why the service is degraded; null if it is not. */
  readonly degraded: string | null
}

/** The address of a page relative to the service's `/`, and its name. */
export type PageLink = readonly [href: string, name: string]

const EXAMPLE_URL = 'http://localhost:8080'

/** The page at `/`, in English for developers: the state of the service, links to all pages, then the guide. */
export function guidePage({ guide, publicUrl, links, degraded }: GuideNeeds): string {
  // Safe as markup: the build escapes the guide's text, and an encoded address needs no escape.
  const text: Html = { markup: guide.replaceAll(EXAMPLE_URL, encodeURI(publicUrl)) }
  return pageOf({
    language: 'en',
    title: 'Keystride: integrate in 15 minutes',
    base: 'auth/',
    languages: false,
    body: html`<div class="guide">${mark}<p class="lead">This Keystride service is ${degraded ?? 'well'}.</p>
<p class="links">${links.map(([href, name]) => html`<a href="${href}">${name}</a>`)}</p>
${text}</div>`,
  })
}

const SAYING = {
  400: {
    title: 'This address is damaged',
    text: 'It may have been cut off or changed on its way. Pages of this service:',
  },
  401: {
    title: 'This address belongs to an API',
    text: 'Programs call it with an API key. Pages for people:',
  },
  404: { title: 'No such page', text: 'Nothing is served at this address. Pages of this service:' },
} as const

/** The page for a browser at an API's address or an unknown one. `root` is the path of the service's `/`. */
export function strayPage(status: keyof typeof SAYING, root: string, links: readonly PageLink[]): string {
  const { title, text } = SAYING[status]
  return pageOf({
    language: 'en',
    title,
    base: `${root}auth/`,
    languages: false,
    body: html`<div class="guide">${mark}<h1>${title}</h1><p class="lead">${text}</p>
<p class="links">${links.map(([href, name]) => html`<a href="${root}${href}">${name}</a>`)}</p></div>`,
  })
}
