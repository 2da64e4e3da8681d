/** `URL.parse` (Node 22), which oidc-provider calls. A no-op where it exists. */
if (!('parse' in URL))
  Object.defineProperty(URL, 'parse', {
    configurable: true,
    writable: true,
    value: (url: string, base?: string) => (URL.canParse(url, base) ? new URL(url, base) : null),
  })
