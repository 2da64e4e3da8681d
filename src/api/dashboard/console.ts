import { fileEndpoint } from '../../http/file-endpoint.js'
import type { PlainAnswer, PlainEndpoint } from '../../http/server-types.js'
import { consolePage } from '../../web/console-page.js'
import { iconSvg, pageHeaders } from '../../web/page.js'

interface ConsoleFiles {
  readonly script: string
  readonly style: string
  /** Licences of the packages in the script and the style. */
  readonly licences: string
}

/** `/console/` and every view below it: one document, whose script shows the view that the address names. */
export function consoleEndpoints(publicUrl: string, { script, style, licences }: ConsoleFiles): PlainEndpoint[] {
  const root = `${new URL(publicUrl).pathname.replace(/\/+$/, '')}/`
  const answer: PlainAnswer = {
    status: 200,
    contentType: 'text/html; charset=utf-8',
    body: consolePage(root),
    headers: { ...pageHeaders(publicUrl), 'cache-control': 'no-cache' },
  }
  const views = ['/console/', '/console/{page}', '/console/{page}/{item}', '/console/{page}/{item}/{part}']
  return [
    ...views.map((path): PlainEndpoint => ({ method: 'get', path, handle: () => answer })),
    fileEndpoint('/console/console.js', 'text/javascript; charset=utf-8', script),
    fileEndpoint('/console/console.css', 'text/css; charset=utf-8', style),
    fileEndpoint('/console/licenses.txt', 'text/plain; charset=utf-8', licences),
    fileEndpoint('/console/icon.svg', 'image/svg+xml', iconSvg('#2a9d8f')),
  ]
}
