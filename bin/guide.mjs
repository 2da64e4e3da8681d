#!/usr/bin/env node
// Renders docs/integrate.md to build/web/guide.html, the body of the page at `/`. The build runs it.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Marked } from 'marked'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const isServed = (href) => /^(https?:|#)/.test(href)
const marked = new Marked({
  renderer: {
    // The service does not serve the other documents: their links become plain text.
    link({ href, tokens }) {
      const text = this.parser.parseInline(tokens)
      return isServed(href) ? `<a href="${href}">${text}</a>` : text
    },
    // Code scrolls, so it needs keyboard focus.
    code: ({ text, lang }) =>
      `<pre tabindex="0"${lang ? ` data-language="${lang.split(' ')[0]}"` : ''}><code>${escaped(text)}</code></pre>\n`,
  },
})
const escaped = (text) =>
  text.replace(/[&<>"]/g, (one) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[one])

const text = readFileSync(join(root, 'docs/integrate.md'), 'utf8').replace(/<!--.*?-->\n?/g, '')
mkdirSync(join(root, 'build/web'), { recursive: true })
writeFileSync(join(root, 'build/web/guide.html'), marked.parse(text))
