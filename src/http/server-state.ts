import type { Answering } from './answering.js'
import type { BodyRoom } from './intake/body-intake.js'
import type { RouteMatch } from './route-match.js'
import type { Router } from './router.js'
import type { ServerNeeds } from './server-types.js'

/** The parts of a server that all of its requests share. */
export interface ServerState<S> {
  readonly needs: ServerNeeds<S>
  readonly router: Router<RouteMatch<S>>
  readonly answering: Answering<S>
  readonly room: BodyRoom
}
