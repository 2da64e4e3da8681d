/**
 * Announces the end of a row: every answer to it, refusals included, then carries `Deprecation`, `Sunset` and `Link`
 * (interface, Legacy endpoints). `B` is the row's checked body.
 */
export interface Deprecated<B = never> {
  /** From when on new clients should not use it. */
  readonly since: Date
  /** When it may stop answering; not before `since` (RFC 9745, section 4). */
  readonly sunset: Date
  /**
   * What takes its place: a path below the same API's base path, its braces filled with the parameters of the call. One
   * that depends on the body is given null where the call got no further than before its check.
   */
  readonly successor: string | ((body: B | null) => string)
}

/** A row that goes, and what is known of the call by the time it is answered. */
export interface Leaving {
  /** The row's own path template. */
  readonly path: string
  readonly deprecated: Deprecated
  /** Decoded path parameters as they came. */
  readonly params: Readonly<Record<string, string>>
  /** The checked body; null before its check. */
  body: unknown
}

/**
 * `Deprecation` as a structured-field date (RFC 9745), `Sunset` as an HTTP date (RFC 8594), `Link` to the successor (RFC
 * 8288) relative to the request's own path, which holds behind a proxy that serves the API under another base path.
 */
export function deprecationHeaders({ path, deprecated, params, body }: Leaving): Record<string, string> {
  const { since, sunset, successor } = deprecated
  // Sound: routesFor ties the function to the row's body, and the server gives the body that the row's schema made.
  const template = typeof successor === 'string' ? successor : successor(body as null)
  const up = '../'.repeat(path.split('/').length - 2)
  const target = template.slice(1).replace(/\{([^}]+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''))
  return {
    deprecation: `@${Math.floor(since.getTime() / 1000)}`,
    sunset: sunset.toUTCString(),
    link: `<${up}${target}>; rel="successor-version"`,
  }
}
