import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { MadeUpNotice, madeUpRounds } from './pages/made-up.js'
import { VIEWS } from './pages.js'
import { Mark } from './parts/mark.js'
import { Page } from './parts/page.js'
import { Search, userHref } from './parts/search.js'
import { Loading } from './parts/states.js'
import { clearFailures, Toasts } from './parts/toasts.js'
import { hasView, href, match, viewAddress } from './router.js'
import { session, signOut } from './session.js'
import { NoScope, SignIn } from './sign-in.js'
import { t } from './texts.js'

/** The view of the address for a key that may read, else the form to sign in. */
export function App() {
  const current = session.value
  if (current.kind === 'starting') return <Loading />
  if (current.kind === 'out') return <SignIn why={current.why} />
  return current.access.reads ? <Frame /> : <NoScope />
}

/** Whether a narrow screen shows the navigation. */
const menuOpen = signal(false)

function Frame() {
  const { path } = viewAddress.value
  useEffect(() => {
    menuOpen.value = false
    clearFailures()
  }, [path])
  return (
    <div class="frame">
      <a class="skip" href="#main">
        {t.skip}
      </a>
      <header class="bar">
        <button
          type="button"
          class="icon menu"
          aria-expanded={menuOpen.value}
          aria-controls="navigation"
          aria-label={t.menu}
          onClick={() => {
            menuOpen.value = !menuOpen.value
          }}
        >
          ☰
        </button>
        <a class="brand" href={href('')} aria-label={t.product}>
          <Mark />
          <span>{t.product}</span>
        </a>
        {hasView(userHref('-')) && <Search />}
        <button type="button" class="button quiet" onClick={() => signOut()}>
          {t.signOut}
        </button>
      </header>
      <nav id="navigation" class={menuOpen.value ? 'side open' : 'side'} aria-label={t.nav.label}>
        <ul>
          {VIEWS.map(({ path: to, nav }) =>
            nav === undefined ? null : (
              <li key={to}>
                <a href={href(to)} aria-current={isWithin(path, to) ? 'page' : undefined}>
                  {nav}
                </a>
              </li>
            ),
          )}
        </ul>
        <p class="foot">
          <a href={`${href('')}../dashboard/docs`} data-load>
            {t.reference}
          </a>
          <a href={href('licenses.txt')} data-load>
            {t.licences}
          </a>
        </p>
      </nav>
      <main id="main" tabIndex={-1}>
        <MadeUpNotice />
        <Current />
      </main>
      <Toasts />
    </div>
  )
}

/** Whether a view belongs to an entry of the navigation, by the first segment of its address. */
const isWithin = (path: string, entry: string): boolean => path.split('/')[0] === entry

function Current() {
  const { path } = viewAddress.value
  for (const view of VIEWS) {
    const parameters = match(view.path, path)
    // Another key makes Preact create the view anew.
    if (parameters !== null) return <div key={`${path} ${madeUpRounds.value}`}>{view.show(parameters)}</div>
  }
  return (
    <Page title={t.notFound.title}>
      <p>{t.notFound.text}</p>
      <p>
        <a href={href('')}>{t.notFound.back}</a>
      </p>
    </Page>
  )
}
