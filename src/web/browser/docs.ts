/** The forms of the reference page, generated from the OpenAPI document: they call each endpoint. */
import type { Document, Operation, Parameter, Schema } from './openapi-parts.js'

interface ApiCall {
  readonly method: string
  /** Relative to the API's base path. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
}

/** Base address of the page's API, without a slash at the end. */
const base = new URL('.', location.href).href.replace(/\/$/, '')

const HEADERS_SHOWN = [
  'content-type',
  'x-request-id',
  'x-service-session',
  'retry-after',
  'deprecation',
  'sunset',
  'link',
]

/** Creates an element with properties and children; strings become text nodes. */
function make<K extends keyof HTMLElementTagNameMap>(
  name: K,
  properties: Partial<HTMLElementTagNameMap[K]> = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const element = Object.assign(document.createElement(name), properties)
  element.append(...children)
  return element
}

const labelled = (text: string, field: HTMLElement, note = ''): HTMLLabelElement =>
  make('label', {}, make('span', { textContent: text }), make('small', { textContent: note }), field)

const [key, session] = ['password', 'text'].map((type) =>
  make('input', { type, autocomplete: 'off', spellcheck: false }),
) as [HTMLInputElement, HTMLInputElement] // Sound: two types, two inputs.

const spec = (await (await fetch('openapi.json')).json()) as Document // Sound: the service writes it.
const dereference = (schema: Schema): Schema => spec.components.schemas[schema.$ref?.split('/').pop() ?? ''] ?? schema

function fieldOf({ name, required, schema: given }: Parameter): HTMLInputElement | HTMLSelectElement {
  const schema = dereference(given)
  if (schema.enum !== undefined) {
    const options = [...(required ? [] : ['']), ...schema.enum.map(String)]
    return make('select', { required }, ...options.map((value) => make('option', { value, textContent: value })))
  }
  const number = schema.type === 'integer' || schema.type === 'number'
  const placeholder = schema.default === undefined ? '' : String(schema.default)
  const value = required && /ref$/i.test(name) ? 'ann' : ''
  return make('input', {
    type: number ? 'number' : 'text',
    autocomplete: 'off',
    spellcheck: false,
    required,
    placeholder,
    value,
  })
}

const noteOf = ({ in: where, required, schema: given }: Parameter): string => {
  const { type = 'string', format } = dereference(given)
  return [where, format ?? String(type), ...(required ? ['required'] : [])].join(', ')
}

/** The body's field; null without a body. Its text is sent unchanged, so that refusals can be tried too. */
function bodyOf({ requestBody }: Operation): HTMLTextAreaElement | null {
  if (requestBody === undefined) return null
  const [example] = dereference(requestBody.content['application/json'].schema).examples ?? []
  const value = example === undefined ? '' : JSON.stringify(example, null, 2)
  const placeholder = example === undefined ? 'Paste what `keystride typing-pattern` prints' : ''
  return make('textarea', {
    value,
    placeholder,
    spellcheck: false,
    rows: Math.min(16, Math.max(3, value.split('\n').length)),
  })
}

function curlOf({ method, path, headers, body }: ApiCall): string {
  const quoted = (text: string) => `'${text.replace(/'/g, "'\\''")}'`
  const lines = [`curl -X ${method} ${quoted(base + path)}`]
  // The key comes from a shell variable, so that the shell's history does not hold it.
  for (const [name, value] of Object.entries(headers))
    lines.push(`-H ${name === 'apikey' ? '"apikey: $KEYSTRIDE_KEY"' : quoted(`${name}: ${value}`)}`)
  if (body !== null) lines.push(`--data-binary ${quoted(body)}`)
  return lines.join(' \\\n  ')
}

function formOf(method: string, path: string, operation: Operation): HTMLElement {
  const fields = operation.parameters
    .filter(({ $ref }) => $ref === undefined)
    .map((parameter) => ({ parameter, field: fieldOf(parameter) }))
  const takesSession = operation.parameters.some(({ $ref }) => $ref?.endsWith('Session'))
  const body = bodyOf(operation)
  const send = make('button', { type: 'submit', textContent: 'Send' })
  const copy = make('button', { type: 'button', textContent: 'Copy as curl', className: 'quiet' })
  const curl = make('code')
  const form = make(
    'form',
    { autocomplete: 'off' },
    ...fields.map(({ parameter, field }) => labelled(parameter.name, field, noteOf(parameter))),
    ...(body === null ? [] : [labelled('Body', body, 'JSON')]),
    make('p', {}, send, ' ', copy),
    make('pre', { tabIndex: 0 }, curl),
  )
  const status = make('p', { className: 'status' })
  status.setAttribute('aria-live', 'polite')
  const answer = make('div')

  const call = (): ApiCall => {
    const filled = path.replace(/\{([^}]+)\}/g, (_, name: string) =>
      encodeURIComponent(
        fields.find(({ parameter }) => parameter.in === 'path' && parameter.name === name)?.field.value ?? '',
      ),
    )
    const given = (place: Parameter['in']) =>
      fields
        .filter(({ parameter, field }) => parameter.in === place && field.value !== '')
        .map(({ parameter, field }) => [parameter.name, field.value] as const)
    const query = given('query').map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    const sent = body === null || body.value.trim() === '' ? null : body.value
    const headers = {
      ...(operation.security.length > 0 && { apikey: key.value }),
      ...(takesSession && session.value !== '' && { 'X-Service-Session': session.value }),
      ...Object.fromEntries(given('header')),
      ...(sent !== null && { 'Content-Type': 'application/json' }),
    }
    return { method, path: filled + (query.length === 0 ? '' : `?${query.join('&')}`), headers, body: sent }
  }
  const showCurl = () => {
    curl.textContent = curlOf(call())
  }
  form.addEventListener('input', showCurl)
  form.addEventListener('focusin', showCurl)
  copy.addEventListener('click', async () => {
    copy.textContent = (await copied(curlOf(call()), curl)) ? 'Copied' : 'Selected, to copy'
  })
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    send.disabled = true
    answer.replaceChildren()
    status.textContent = 'Sending …'
    await sendCall(call()).then(
      ({ line, parts }) => {
        status.textContent = line
        answer.replaceChildren(...parts)
      },
      (error: unknown) => {
        status.textContent = `No answer: ${error instanceof Error ? error.message : 'the call was not sent'}`
      },
    )
    send.disabled = false
    showCurl()
  })
  showCurl()
  return make('details', { className: 'send' }, make('summary', { textContent: 'Send a call' }), form, status, answer)
}

/** Copies a text. False over plain http, where a page has no clipboard: the element that shows the text is then selected. */
async function copied(text: string, shownIn: HTMLElement): Promise<boolean> {
  const done = await (navigator.clipboard?.writeText(text) ?? Promise.reject()).then(
    () => true,
    () => false,
  )
  if (!done) getSelection()?.selectAllChildren(shownIn)
  return done
}

async function sendCall({ method, path, headers, body }: ApiCall): Promise<{ line: string; parts: Node[] }> {
  const began = performance.now()
  const response = await fetch(base + path, { method, headers, body, credentials: 'omit', cache: 'no-store' })
  const bytes = await response.arrayBuffer()
  const line = `${response.status} ${response.statusText}, ${Math.round(performance.now() - began)} ms`
  session.value = response.headers.get('x-service-session') ?? session.value
  const shown = HEADERS_SHOWN.filter((name) => response.headers.has(name))
  const list = make(
    'dl',
    {},
    ...shown.flatMap((name) => [
      make('dt', { textContent: name }),
      make('dd', { textContent: response.headers.get(name) ?? '' }),
    ]),
  )
  const json = (response.headers.get('content-type') ?? '').startsWith('application/json')
  const text = json
    ? JSON.stringify(JSON.parse(new TextDecoder().decode(bytes)), null, 2)
    : `${bytes.byteLength} bytes, not shown`
  return { line, parts: [list, make('pre', { tabIndex: 0 }, make('code', { textContent: text }))] }
}

for (const [path, methods] of Object.entries(spec.paths))
  for (const [method, operation] of Object.entries(methods))
    document.getElementById(operation.operationId)?.append(formOf(method.toUpperCase(), path, operation))
document
  .querySelector('main > header')
  ?.append(
    make(
      'form',
      { className: 'access', autocomplete: 'off', onsubmit: () => false },
      labelled('API key', key, 'kept only by this page, until it is closed'),
      labelled('X-Service-Session', session, 'taken from the last answer that had one'),
    ),
  )

const endpoints = [...document.querySelectorAll<HTMLDetailsElement>('article > details')].map((details) => ({
  details,
  article: details.closest('article') as HTMLElement, // Sound: by the selector.
  links: [...document.querySelectorAll<HTMLElement>(`nav li:has(a[href="#${details.querySelector('.body')?.id}"])`)],
  text: textOf(details),
}))
const lists = document.querySelectorAll<HTMLDetailsElement>('nav > details')
const groups = [...document.querySelectorAll<HTMLElement>('section.group, nav > details')]

/** The searched text: path, method, summary and the names of fields, parameters and headers. */
function textOf(details: HTMLDetailsElement): string {
  const names = details.querySelectorAll('summary h3, .line, .body > p, td:first-child')
  return [...names]
    .map(({ textContent }) => textContent)
    .join(' ')
    .toLowerCase()
}

const isSmall = matchMedia('(max-width:56rem)').matches
/** A search with at most this many hits opens them. */
const OPENED_MAX = 3
const search = make('input', { type: 'search', autocomplete: 'off', spellcheck: false })
const conventions = document.getElementById('conventions')
const found = make('p', { className: 'found' })
found.setAttribute('role', 'status')

function filter(): void {
  const words = search.value
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '')
  const fits = ({ text }: { readonly text: string }) => words.every((word) => text.includes(word))
  const hits = endpoints.filter(fits)
  for (const one of endpoints) {
    for (const part of [one.article, ...one.links]) part.hidden = !hits.includes(one)
  }
  for (const group of groups) group.hidden = group.querySelector('article:not([hidden]), li:not([hidden])') === null
  if (words.length > 0)
    for (const { details } of endpoints)
      details.open = hits.length <= OPENED_MAX && hits.some((hit) => hit.details === details)
  if (isSmall) for (const list of lists) list.open = words.length > 0
  conventions?.toggleAttribute('hidden', words.length > 0)
  found.textContent = words.length === 0 ? '' : `${hits.length} of ${endpoints.length} endpoints`
  reachable()
}
search.addEventListener('input', filter)
search.addEventListener('keydown', ({ key: pressed }) => {
  const [first] = document.querySelectorAll<HTMLElement>('article:not([hidden]) .body')
  if (pressed === 'Enter' && first !== undefined) location.hash = first.id
})
addEventListener('keydown', (event) => {
  const typing = event.target instanceof Element && event.target.matches('input, textarea, select')
  if (event.key !== '/' || typing) return
  event.preventDefault()
  search.focus()
})

const all = make('button', { type: 'button', className: 'quiet', textContent: 'Open all' })
all.addEventListener('click', () => {
  const opens = all.textContent === 'Open all'
  for (const { details } of endpoints) details.open = opens
  all.textContent = opens ? 'Close all' : 'Open all'
})
document.getElementById('tools')?.append(labelled('Search', search, 'path, summary or field; key /'), found, all)

/** Shows the endpoint that the address names, regardless of the search. */
function showNamed(): void {
  // Names of endpoints need no escape.
  const body = document.getElementById(location.hash.slice(1))
  const details = body?.closest<HTMLDetailsElement>('article > details')
  if (!body || !details) return
  if (details.closest('article')?.hidden) {
    search.value = ''
    filter()
  }
  details.open = true
  details.scrollIntoView()
}
addEventListener('hashchange', showNamed)
showNamed()
addEventListener('beforeprint', () => {
  for (const { details } of endpoints) details.open = true
})
// On a small screen the open lists would push the page down.
if (isSmall) for (const list of lists) list.open = false

/** Gives keyboard focus to boxes that overflow, so that they can be scrolled, and to no others. */
function reachable(): void {
  for (const box of document.querySelectorAll<HTMLElement>('.body pre, .body .scroll, section > pre'))
    box.tabIndex = box.scrollWidth > box.clientWidth ? 0 : -1
}
addEventListener('resize', reachable)
addEventListener('toggle', reachable, true)
reachable()
