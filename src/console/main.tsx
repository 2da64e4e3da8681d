/** The operators' console: a view of the dashboard API, and of nothing else. */
import { render } from 'preact'
import { App } from './app.js'
import { VIEWS } from './pages.js'
import { beginRouting, routesAre } from './router.js'
import { begin } from './session.js'

const root = document.getElementById('console')
if (root !== null) {
  root.replaceChildren()
  routesAre(VIEWS.map(({ path }) => path))
  beginRouting()
  render(<App />, root)
  void begin()
}
