/**
 * Node 20 has no `navigator`, which Node 21 and later have. Without it `pg` makes a `Response` when it is loaded, to tell Node
 * from Cloudflare Workers, and with it Node loads the whole of its fetch client: about 5 MB of memory in each process. Import this
 * file before `pg`.
 */
if (!('navigator' in globalThis))
  Object.assign(globalThis, { navigator: { userAgent: `Node.js/${process.versions.node}` } })
