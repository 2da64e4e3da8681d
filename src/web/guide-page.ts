import { type Html, html } from './html.js'
import { mark, pageOf } from './page.js'

interface GuideNeeds {
  /** The guide as HTML, made by the build from docs/integrate.md. */
  readonly guide: string
  /** Replaces the guide's `http://localhost:8080`. */
  readonly publicUrl: string
  /** Pages that this process serves: address relative to `/`, name. */
  readonly links: readonly (readonly [string, string])[]
}

const EXAMPLE_URL = 'http://localhost:8080'

/** The page at `/`: where everything is, then how to integrate. In English, for developers. */
export function guidePage({ guide, publicUrl, links }: GuideNeeds): string {
  // Sound as markup: the build escapes the guide's text, and an address has no character that markup needs escaped.
  const text: Html = { markup: guide.replaceAll(EXAMPLE_URL, encodeURI(publicUrl)) }
  return pageOf({
    language: 'en',
    title: 'Keystride: integrate in 15 minutes',
    base: 'auth/',
    languages: false,
    body: html`<div class="guide">${mark}<p class="lead">This is a Keystride service.</p>
<p class="links">${links.map(([href, name]) => html`<a href="${href}">${name}</a>`)}</p>
${text}</div>`,
  })
}
