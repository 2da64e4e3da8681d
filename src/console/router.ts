import { signal } from '@preact/signals'

/** The view that the address names, below the console's folder: `/console/users/ann?skip=50` is `users/ann`. */
interface ViewAddress {
  readonly path: string
  readonly query: URLSearchParams
}

const BASE = new URL('.', import.meta.url).pathname

function viewAddressNow(): ViewAddress {
  const path = location.pathname.startsWith(BASE) ? location.pathname.slice(BASE.length) : ''
  return { path, query: new URLSearchParams(location.search) }
}

export const viewAddress = signal<ViewAddress>(viewAddressNow())

let templates: readonly string[] = ['']
/** Sets the addresses of all views, as templates for `match`. */
export const setRoutes = (paths: readonly string[]): void => {
  templates = paths
}

/** Whether an address made by `href` names a view. */
export function hasView(address: string): boolean {
  const path = address.slice(BASE.length).replace(/\?.*/, '')
  return templates.some((template) => match(template, path) !== null)
}

type Values = Readonly<Record<string, string | number | null | undefined>>

/** The address of a view. Null and empty values are left out of the query. */
export function href(path: string, values: Values = {}): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(values))
    if (value !== null && value !== undefined && value !== '') query.set(name, String(value))
  const text = query.toString()
  return `${BASE}${path}${text === '' ? '' : `?${text}`}`
}

/** The address of this view with some values of its query changed. */
export const hrefWith = (values: Values): string =>
  href(viewAddress.value.path, { ...Object.fromEntries(viewAddress.value.query), ...values })

export function navigate(address: string, { replace = false } = {}): void {
  history[replace ? 'replaceState' : 'pushState'](null, '', address)
  viewAddress.value = viewAddressNow()
}

/** Follows links within the console without loading the document again. */
export function beginRouting(): void {
  addEventListener('popstate', () => {
    viewAddress.value = viewAddressNow()
  })
  document.addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest('a') : null
    const modified = event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey
    if (link === null || modified || event.defaultPrevented || link.target !== '' || link.dataset.load !== undefined)
      return
    const { origin, pathname, hash } = new URL(link.href)
    if (origin !== location.origin || !pathname.startsWith(BASE) || hash !== '') return
    event.preventDefault()
    if (link.href !== location.href) scrollTo(0, 0)
    navigate(link.href, { replace: link.href === location.href })
  })
}

/** The values of a template's parameters in a path; null if the path does not match. */
export function match(template: string, path: string): Readonly<Record<string, string>> | null {
  const [wanted, given] = [template.split('/'), path.split('/')]
  if (wanted.length !== given.length) return null
  const values: Record<string, string> = {}
  for (const [i, part] of wanted.entries()) {
    const segment = given[i] ?? ''
    if (!part.startsWith('{')) {
      if (part !== segment) return null
    } else if (segment === '') return null
    else values[part.slice(1, -1)] = decoded(segment)
  }
  return values
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
