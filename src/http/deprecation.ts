/**
 * The deprecation of a route. Each of its answers, refusals included, carries `Deprecation`, `Sunset` and `Link` (interface,
 * Legacy endpoints). `B` is the route's checked body.
 */
export interface Deprecated<B = never> {
  /** New clients should not use the route from this date on. */
  readonly since: Date
  /** The route may stop answering at this date; not before `since` (RFC 9745, section 4). */
  readonly sunset: Date
  /**
   * The path that replaces the route, below the same API's base path; the call's parameters fill its braces. As a function,
   * it gets null if the call ended before the body was checked.
   */
  readonly successor: string | ((body: B | null) => string)
}

/** The data of a call of a deprecated route that are known when it is answered. */
export interface DeprecatedCall {
  /** The route's own path template. */
  readonly path: string
  readonly deprecated: Deprecated
  /** Decoded path parameters, not checked. */
  readonly params: Readonly<Record<string, string>>
  /** The checked body; null before its check. */
  body: unknown
}

/**
 * `Deprecation` as a structured-field date (RFC 9745), `Sunset` as an HTTP date (RFC 8594), and `Link` to the successor (RFC
 * 8288). The link is relative to the request's path, so it is right behind a proxy that changes the base path.
 */
export function deprecationHeaders({ path, deprecated, params, body }: DeprecatedCall): Record<string, string> {
  const { since, sunset, successor } = deprecated
  // Sound: routesFor ties the function to the route's body, and the server passes the output of the route's schema.
  const template = typeof successor === 'string' ? successor : successor(body as null)
  const up = '../'.repeat(path.split('/').length - 2)
  const target = template.slice(1).replace(/\{([^}]+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''))
  return {
    deprecation: `@${Math.floor(since.getTime() / 1000)}`,
    sunset: sunset.toUTCString(),
    link: `<${up}${target}>; rel="successor-version"`,
  }
}
