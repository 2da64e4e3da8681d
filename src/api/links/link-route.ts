import { Refusal } from '../../domain/refusal.js'
import type { LinkPageFlows } from '../../flows/profile/link-page.js'
import type { ProfileLinkFlows } from '../../flows/profile/profile-links.js'
import { type BrowserHeader, routesFor } from '../../http/route.js'

/** What the profile-link API's handlers are given. */
export interface LinkServices {
  readonly profileLinks: ProfileLinkFlows
  readonly linkPage: LinkPageFlows
  /** Cached health: null when well, else why not. Touches no store. */
  readonly degraded: () => string | null
  /** Where browsers reach this API, `/auth` included. */
  readonly linksUrl: string
}

/** Makes a row of the profile-link API's route table. */
export const linkRoute = routesFor<LinkServices>()

/**
 * Refuses what a page of another origin asks a browser for. Where the browser says nothing of the site (plain http
 * beyond loopback) the origin tells; what says neither is no browser, and holds no authority but the key it sends.
 */
export function refuseCrossSite(header: (name: BrowserHeader) => string | undefined, linksUrl: string): void {
  const site = header('sec-fetch-site')
  const origin = header('origin')
  const own = site === undefined ? origin === undefined || origin === new URL(linksUrl).origin : site === 'same-origin'
  if (!own) throw new Refusal('cross-site', 'a page of another origin asked for this')
}
