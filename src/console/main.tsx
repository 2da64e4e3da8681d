/** The operators' console: a view of the dashboard API, and of nothing else. */
import './browser.js'
import { options, render } from 'preact'
import { useErrorBoundary } from 'preact/hooks'
import { App } from './app.js'
import { VIEWS } from './pages.js'
import { Ended } from './parts/ended.js'
import { beginRouting, setRoutes } from './router.js'
import { begin } from './session.js'

// A browser that translates the page leaves codes, keys and commands as they are.
const { vnode } = options
options.vnode = (node) => {
  if (node.type === 'code') Object.assign(node.props, { translate: false })
  vnode?.(node)
}

/** An error while a view is drawn shows a page that says so. */
function Guarded() {
  const [error] = useErrorBoundary()
  return error === undefined ? <App /> : <Ended error={error} />
}

const root = document.getElementById('console')
if (root !== null) {
  setRoutes(VIEWS.map(({ path }) => path))
  beginRouting()
  // Removes the sentence that is shown if this script does not run.
  root.replaceChildren()
  render(<Guarded />, root)
  begin().catch((error: unknown) => render(<Ended error={error} />, root))
}
