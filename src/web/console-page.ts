import type { Language } from '../domain/typing-words.js'
import { html } from './html.js'

/** The document of the operators' console. Its script draws everything. `root` is the path of the service's `/`. */
export const consolePage = (root: string, language: Language): string => {
  const folder = `${root}console/`
  const page = html`<!doctype html>
<html lang="${language}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark"><title>Keystride console</title>
<link rel="icon" type="image/svg+xml" href="${folder}icon.svg"><link rel="stylesheet" href="${folder}console.css">
<script type="module" src="${folder}console.${language}.js"></script></head>
<body><div id="console"><noscript>The console needs JavaScript.</noscript></div></body></html>
`
  return page.markup
}
