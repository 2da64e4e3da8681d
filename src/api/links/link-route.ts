import { Refusal } from '../../domain/refusal.js'
import type { LinkPageFlows } from '../../flows/profile/link-page.js'
import type { ProfileLinkFlows } from '../../flows/profile/profile-links.js'
import { type BrowserHeader, routesFor } from '../../http/route.js'

/** Services of the profile-link API's handlers. */
export interface LinkServices {
  readonly profileLinks: ProfileLinkFlows
  readonly linkPage: LinkPageFlows
  /** The cached health, without a call to a store: null if healthy, else the reason. */
  readonly degraded: () => string | null
  /** The browser's address of this API, `/auth` included. */
  readonly linksUrl: string
}

/** Creates a row of the profile-link API's route table. */
export const linkRoute = routesFor<LinkServices>()

/**
 * Refuses requests that a browser sends for a page of another origin. Uses `Sec-Fetch-Site`; if absent (plain http beyond
 * loopback), `Origin`. A client that sends neither is not a browser, and has no authority except the key that it sends.
 */
export function refuseCrossSite(header: (name: BrowserHeader) => string | undefined, linksUrl: string): void {
  const site = header('sec-fetch-site')
  const origin = header('origin')
  const own = site === undefined ? origin === undefined || origin === new URL(linksUrl).origin : site === 'same-origin'
  if (!own) throw new Refusal('cross-site', 'a page of another origin sent this request')
}
